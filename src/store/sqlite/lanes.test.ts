import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.ts'
import type { LaneStore } from '../contract/lanes.ts'
import { type Connection, connect } from './connection.ts'
import { laneStore } from './lanes.ts'
import { prepareSchema } from './schema.ts'
import { wakeOn } from './wake.ts'

const NOW = 1_000_000
const LANES = 2500
const clock = { ...systemClock, now: () => NOW }

let connection: Connection
let lanes: LaneStore

/** In every lane one is open, and one behind it that is due much later. */
beforeEach(async () => {
  connection = await connect({ path: ':memory:', busyTimeoutMs: 0 })
  await prepareSchema(connection, { name: 'memory', address: '', migrate: true, clock })
  lanes = laneStore(
    connection,
    clock,
    wakeOn(connection, () => {}),
  )
  connection.run(
    `with recursive n(n) as (select 1 union all select n + 1 from n where n < ?)
     insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy, lane,
       overlap, gate)
     select n || gate, 'w', 'j', 'q', 'pending', 'enqueue', 5, ?, 0, 'null', '{}', printf('lane%05d', n), 'queue', gate
     from n cross join (select 'open' as gate union all select 'closed')`,
    ...[LANES, NOW + 1e6],
  )
})

afterEach(() => connection.close())

const free = (lane: string): number =>
  connection.run(`delete from everytick_runs where gate = 'open' and lane = ?`, lane) +
  connection.run('update everytick_runs set due_at = ? where lane = ?', NOW, lane)

it('finds the lanes that need a decision among very many, wherever they stand', async () => {
  expect(await lanes.look({ limit: 10 })).toEqual({ now: NOW, lanes: [], empty: false })
  const freed = ['lane00001', 'lane01000', 'lane01001', 'lane02000', 'lane02500']
  for (const lane of freed) free(lane)
  expect((await lanes.look({ limit: 10 })).lanes.map(({ lane }) => lane)).toEqual(freed)
  expect((await lanes.look({ limit: 3 })).lanes.map(({ lane }) => lane)).toEqual(freed.slice(0, 3))
})

it('leaves the event loop its turn while it passes through very many', async () => {
  let turns = 0
  const count = (): void => {
    turns += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await lanes.look({ limit: 10 })
  clearImmediate(timer)
  expect(turns).toBeGreaterThanOrEqual(2)
})
