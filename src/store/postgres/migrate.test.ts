import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase, type Database } from '../../../test/postgres/launcher.ts'
import { RUN_STATES, type RunState } from '../../run/state.ts'
import { migrationSql, quotedSchema } from './migrate.ts'
import { CORE } from './migrations/0001-core.ts'
import { openPostgres, type PostgresOptions } from './store.ts'

let database: Database
let client: pg.Client

beforeAll(async () => {
  database = await createDatabase(inject('postgres'))
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

const opened = (schema: string, options: Partial<PostgresOptions> = {}) =>
  openPostgres({ url: database.url, schema, ...options })

describe('migrating', () => {
  it('happens once, however many processes start at the same moment', async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => opened('together')))
    for (const store of stores) expect(await store.schedules.list({ limit: 1 })).toEqual([])
    const { rows } = await client.query('select version, name from together.migrations order by version')
    expect(rows).toEqual([
      { version: 1, name: 'core' },
      { version: 2, name: 'policies' },
      { version: 3, name: 'grants' },
      { version: 4, name: 'history' },
      { version: 5, name: 'documents' },
      { version: 6, name: 'reading' },
      { version: 7, name: 'lists' },
      { version: 8, name: 'room' },
      { version: 9, name: 'claims' },
      { version: 10, name: 'non-run-lists' },
      { version: 11, name: 'ended-schedules' },
      { version: 12, name: 'monitoring' },
      { version: 13, name: 'deleted-runs' },
      { version: 14, name: 'quotas' },
    ])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('keeps schemas of one database apart', async () => {
    const [one, other] = [await opened('one'), await opened('other')]
    await one.workers.beat({ id: 'w1', host: 'h', pid: 1, roles: [], queues: {}, tzdata: '', busy: 0 })
    expect(await one.workers.list()).toHaveLength(1)
    expect(await other.workers.list()).toEqual([])
    await Promise.all([one.close(), other.close()])
  })

  it('leaves nothing behind when it fails half way', async () => {
    await client.query('create schema taken; create table taken.workers ()')
    await expect(opened('taken')).rejects.toThrow(/workers/)
    const { rows } = await client.query(`select relname from pg_class where relnamespace = 'taken'::regnamespace`)
    expect(rows).toEqual([{ relname: 'workers' }])
  })

  it('is refused where it is switched off, until somebody has applied the SQL', async () => {
    const missing = { code: 'STORE_MISSING', hint: expect.stringContaining('everytick migrate --db') }
    await expect(opened('by_hand', { migrate: false })).rejects.toMatchObject(missing)
    await client.query(migrationSql({ schema: 'by_hand' }))
    const store = await opened('by_hand', { migrate: false })
    expect(store.sql()).toBe(migrationSql({ schema: 'by_hand' }))
    await store.close()
  })

  it('has nothing to print for a database that is up to date', async () => {
    await (await opened('newest')).close()
    const { rows } = await client.query('select max(version) as version from newest.migrations')
    expect(migrationSql({ from: rows[0].version })).toBe('')
  })

  it('refuses a database that a newer version has migrated', async () => {
    await (await opened('newer')).close()
    await client.query(`insert into newer.migrations values (99, 'from the future', now())`)
    for (const migrate of [true, false])
      await expect(opened('newer', { migrate })).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' })
  })
})

describe('a database of the first schema', () => {
  /** A row in every table, as the first version would have written it. */
  const FILLED = `
    insert into old.schedules values ('${uuid(1)}', 'default', 'sync', 3, '{"kind":"interval","everyMs":60000,"anchorAt":0}',
      'sync-crm', 'default', '7', 5, '{"retry":{"attempts":1,"backoff":"fixed","baseMs":1,"maxMs":1}}',
      '{"catchUp":"latest","windowMs":1000,"limit":1}', '', '[]', '{}', 'api', now() - interval '1 day', now(), null, null);
    insert into old.cursors values ('${uuid(1)}', now() + interval '1 hour', now(), now(), 3);
    insert into old.runs
    select ('00000000-0000-4000-8000-00000000001' || n)::uuid, 'default', 'sync-crm', 'default', s.state, 'schedule', 5, '${uuid(1)}',
      'sync', 3, at, null, at, at, '7', '{}', s.fence, s.fence, s.worker, s.until, s.until, false, null, null, null
    from (values (1, 'pending', 0, null, null), (2, 'running', 1, 'w1', now())) as s (n, state, fence, worker, until),
      lateral (select date_trunc('second', now()) - n * interval '1 minute' as at) instant;
    insert into old.history select h.* from old.runs r, jsonb_populate_record(null::old.history,
      to_jsonb(r) || jsonb_build_object('state', 'succeeded', 'finished_at', now(), 'result', 1)) h;
    insert into old.journal (at, kind, run_id, data) values (now(), 'retry', '${uuid(1)}', '{}');
    insert into old.non_runs values ('${uuid(1)}', now(), now(), 1, 'missed', 'window', now());
    insert into old.idempotency values ('default', 'once', '${uuid(1)}', now());
    insert into old.locks values ('planner', 'a', 1, now());
    insert into old.workers values ('w1', '{}', now(), now());`

  const firstOnly = (schema: string): string => `${migrationSql({ schema }).split('-- 2:')[0]} commit;`

  it('keeps every row, and what was planned goes on', async () => {
    await client.query(firstOnly('old'))
    await client.query(FILLED)
    const store = await opened('old')
    const schedule = (await store.schedules.get('default', 'sync'))!
    expect(schedule).toMatchObject({ revision: 3, made: 0, createdBy: 'api', updatedBy: 'api' })
    expect(schedule).toMatchObject({ sinceAt: schedule.createdAt, firing: { overlap: 'skip', concurrencyKey: null } })
    const runs = await store.history.runs({}, { limit: 10 })
    expect(runs.map(({ state }) => state).sort()).toEqual(['pending', 'running', 'succeeded', 'succeeded'])
    for (const run of runs) expect(run).toMatchObject({ lane: null, overlap: 'allow', gate: 'open' })
    expect(await store.history.nonRuns(uuid(1))).toMatchObject([{ reason: 'window', detail: '', count: 1 }])
    expect(await store.schedules.pause('default', 'sync', { reason: '', by: 'ana', until: null })).toBe(true)
    expect(await store.history.revisions(uuid(1))).toMatchObject([{ kind: 'paused', by: 'ana' }])
    await store.close()
  })

  it('is brought up to date by the SQL of what it lacks', async () => {
    await client.query(firstOnly('older'))
    await client.query(migrationSql({ schema: 'older', from: 1 }))
    await (await opened('older', { migrate: false })).close()
  })
})

describe('the name of a schema', () => {
  it('is a plain identifier or refused', () => {
    for (const name of ['everytick', '_a', 'order', 'a1_b2', 'x'.repeat(40)])
      expect(quotedSchema(name)).toBe(`"${name}"`)
    const bad = ['', 'A', 'a-b', '1a', 'a b', 'a"b', "a'b", 'a.b', 'a;drop', 'pg_x', 'é', 'a\0', 'x'.repeat(41)]
    for (const name of bad)
      expect(() => quotedSchema(name)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  it('may be a word that SQL keeps for itself', async () => {
    const store = await opened('order')
    expect(await store.now()).toBeGreaterThan(0)
    await store.close()
  })
})

describe('the tables', () => {
  it('hold exactly the states that the state machine knows', () => {
    const [live, finished] = [...CORE.matchAll(/check \(state in \(([^)]*)\)\)/g)].map((match) =>
      match[1]!.split(', ').map((name) => name.replaceAll("'", '') as RunState),
    )
    expect(live!.toSorted()).toEqual(['pending', 'running'])
    expect([...live!, ...finished!].sort()).toEqual(RUN_STATES.toSorted())
  })
})
