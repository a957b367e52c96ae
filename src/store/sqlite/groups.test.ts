import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.ts'
import type { GroupStore } from '../contract/groups.ts'
import { type Connection, connect } from './connection.ts'
import { groupStore } from './groups.ts'
import { prepareSchema } from './schema.ts'
import { wakeOn } from './wake.ts'

const NOW = 1_000_000
const GROUPS = 2500
const clock = { ...systemClock, now: () => NOW }

let connection: Connection
let groups: GroupStore

/** In every group one is open, and one behind it that is due much later. */
beforeEach(async () => {
  connection = await connect({ path: ':memory:', busyTimeoutMs: 0 })
  await prepareSchema(connection, { name: 'memory', address: '', migrate: true, clock })
  groups = groupStore(
    connection,
    clock,
    wakeOn(connection, () => {}),
  )
  connection.run(
    `with recursive n(n) as (select 1 union all select n + 1 from n where n < ?)
     insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy, concurrency_group,
       overlap, readiness)
     select n || readiness, 'w', 'j', 'q', 'pending', 'enqueue', 5, ?, 0, 'null', '{}', printf('group%05d', n), 'queue', readiness
     from n cross join (select 'ready' as readiness union all select 'undecided')`,
    ...[GROUPS, NOW + 1e6],
  )
})

afterEach(() => connection.close())

const free = (group: string): number =>
  connection.run(`delete from everytick_runs where readiness = 'ready' and concurrency_group = ?`, group) +
  connection.run('update everytick_runs set due_at = ? where concurrency_group = ?', NOW, group)

it('finds the groups that need a decision among very many, wherever they stand', async () => {
  expect(await groups.look({ limit: 10 })).toEqual({ now: NOW, groups: [], empty: false })
  const freed = ['group00001', 'group01000', 'group01001', 'group02000', 'group02500']
  for (const group of freed) free(group)
  expect((await groups.look({ limit: 10 })).groups.map(({ group }) => group)).toEqual(freed)
  expect((await groups.look({ limit: 3 })).groups.map(({ group }) => group)).toEqual(freed.slice(0, 3))
})

it('leaves the event loop its turn while it passes through very many', async () => {
  let turns = 0
  const count = (): void => {
    turns += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await groups.look({ limit: 10 })
  clearImmediate(timer)
  expect(turns).toBeGreaterThanOrEqual(2)
})
