/** What ended runs leave behind is cleared while the load goes on, by one process for all, and not in vain again and again. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { newRun, SUCCEEDED } from '../../testing/conformance/samples.ts'
import { systemClock } from '../../time/clock.ts'
import { connect } from './connection.ts'
import type { Statement } from './statement.ts'
import { openPostgres } from './store.ts'
import { createVacuum, isDue, waitAfter } from './vacuum.ts'

describe('whether clearing is due', () => {
  it.each([
    ['nobody ever cleared', null, true],
    ['it was long ago', 5000, true],
    ['somebody has just cleared', 4999, false],
  ])('when %s', (_when, agoMs, due) => {
    expect(isDue({ dead: 1000, agoMs }, 5000)).toBe(due)
  })
})

describe('how long it then rests', () => {
  const of = (dead: number) => ({ dead, agoMs: 0 })
  it.each([
    ['a second at least', { before: of(1000), after: of(0), tookMs: 10, waitMs: 9000 }, 1000],
    ['twenty times as long as it took', { before: of(1000), after: of(100), tookMs: 300, waitMs: 1000 }, 6000],
    ['a minute at most', { before: of(1000), after: of(0), tookMs: 9000, waitMs: 1000 }, 60_000],
    [
      'four times as long as before when it was in vain',
      { before: of(1000), after: of(900), tookMs: 10, waitMs: 2000 },
      8000,
    ],
    ['a minute at most, also in vain', { before: of(1000), after: of(1000), tookMs: 10, waitMs: 50_000 }, 60_000],
  ])('%s', (_what, done, waitMs) => {
    expect(waitAfter(done)).toBe(waitMs)
  })
})

describe('in a database', () => {
  let database: Database
  let client: pg.Client

  beforeAll(async () => {
    database = await createReadyDatabase()
    await (await openPostgres({ url: database.url })).close()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    // The server would do it by itself once in a while.
    await client.query('alter table everytick.runs set (autovacuum_enabled = off)')
  })

  afterAll(async () => {
    await client.end()
    await database.drop()
  })

  const cleared = async (): Promise<number> => {
    const sql = `select vacuum_count as n from pg_stat_user_tables where relid = 'everytick.runs'::regclass`
    return Number((await client.query(sql)).rows[0].n)
  }

  const leave = async (rows: number): Promise<void> => {
    await client.query(`
      insert into everytick.runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy,
        attempt, fence, cancel_requested)
      select gen_random_uuid(), 'gone', '', '', 'pending', 'enqueue', 0, now(), now(), '{}', '{}', 0, 0, false
      from generate_series(1, ${rows})`)
    await client.query(`delete from everytick.runs where workspace = 'gone'`)
    // Else what was counted is told a second later.
    await client.query('select pg_stat_force_next_flush()')
    await client.query('select 1')
  }

  /** Tells what it asked for, and when it has asked for nothing more. */
  const watched = (url = database.url) => {
    const connection = connect({
      urls: [url],
      max: 2,
      prepare: true,
      statementTimeoutMs: 10_000,
      name: 'a vacuum under test',
    })
    const asked: string[] = []
    const ask: typeof connection.api.ask = async (statement: Statement, values) => {
      asked.push(statement.text.trim().split(' ')[0]!)
      return connection.api.ask(statement, values)
    }
    return { asked, close: connection.close, connection: { ...connection, api: { ...connection.api, ask } } }
  }

  it('clears what is told of, once there is enough', async () => {
    const before = await cleared()
    await leave(700)
    const { connection, asked, close } = watched()
    const vacuum = createVacuum(connection, '"everytick"', { clock: systemClock, enough: 600, afterMs: 0 })
    vacuum.left(599)
    expect(asked).toEqual([])
    vacuum.left(1)
    // Whatever is told meanwhile is no second reason.
    vacuum.left(5000)
    await expect.poll(() => asked).toEqual(['select', 'vacuum', 'select'])
    await expect.poll(cleared).toBe(before + 1)
    await close()
  })

  it('leaves alone what another has cleared', async () => {
    await leave(700)
    await client.query('vacuum everytick.runs')
    const { connection, asked, close } = watched()
    const vacuum = createVacuum(connection, '"everytick"', { clock: systemClock, enough: 600, afterMs: 0 })
    vacuum.left(600)
    await expect.poll(() => asked).toEqual(['select'])
    await close()
    expect(asked).toEqual(['select'])
  })

  it('does not ask again and again for what its role may not do', async () => {
    const role = `guest_${database.url.split('_').at(-1)}`
    await client.query(`create role ${role} login; grant usage on schema everytick to ${role}`)
    await client.query(`select pg_stat_reset_single_table_counters('everytick.runs'::regclass)`)
    await leave(700)
    const guest = new URL(database.url)
    guest.username = role
    const { connection, asked, close } = watched(guest.href)
    const vacuum = createVacuum(connection, '"everytick"', { clock: systemClock, enough: 600, afterMs: 0 })
    vacuum.left(600)
    await expect.poll(() => asked).toEqual(['select', 'vacuum', 'select'])
    await expect
      .poll(() => {
        vacuum.left(600)
        return asked
      })
      .toEqual(['select', 'vacuum', 'select', 'select'])
    await close()
    expect(await cleared()).toBe(0)
    await client.query(`drop owned by ${role}; drop role ${role}`)
  })

  it('is no duty: where the table is gone, nothing is said', async () => {
    const { connection, asked, close } = watched()
    const vacuum = createVacuum(connection, '"nowhere"', { clock: systemClock, enough: 1, afterMs: 0 })
    vacuum.left(1)
    await expect.poll(() => asked).toEqual(['select'])
    await close()
    expect(asked).toEqual(['select'])
  })

  it('is done by a store itself while runs come and go', async () => {
    const store = await openPostgres({ url: database.url, listen: false })
    const before = await cleared()
    const round = async (): Promise<void> => {
      await store.runs.enqueue(Array.from({ length: 5000 }, () => newRun({ queue: 'busy' })))
      const wanted = [{ queue: 'busy', limit: 5000, fair: false }]
      const { runs } = await store.claims.claim({ workerId: 'w', leaseMs: 60_000, wanted })
      await store.claims.settle(
        runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'w', verdict: SUCCEEDED })),
      )
    }
    for (let rounds = 0; rounds < 60 && (await cleared()) === before; rounds++) await round()
    expect(await cleared()).toBeGreaterThan(before)
    await store.close()
  })
})
