/** Holds the Postgres store to the contract: on a real server, with a clock of the test's own inside the database. */
import pg from 'pg'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { openPostgres, type PostgresStore } from '../../src/postgres.ts'
import { type OpenTransaction, storeConformance } from '../../src/testing.ts'
import { createDatabase, type Database } from '../postgres/launcher.ts'
import { openHeldPostgres } from './open-postgres.ts'

const SCHEMA = 'conformance'
const TABLES =
  'schedules cursors runs leases shared_queues history non_runs journal idempotency locks workers revisions queues backfills apps documents audit_log logs stats deleted_runs'.split(
    ' ',
  )
/** The clock of the database, turned into one that stands still until it is moved. */
const CLOCK = `
  create table ${SCHEMA}.test_clock as select ${SCHEMA}.now_at() as at, ${SCHEMA}.now_at() as start_at;
  create or replace function ${SCHEMA}.now_at() returns timestamptz language sql volatile parallel safe
  as $$ select at from ${SCHEMA}.test_clock $$`
/** What no constraint can say: somebody will look at the lease of every run that is running. */
const UNWATCHED = `
  select * from ${SCHEMA}.runs where state = 'running' and not exists (select 1 from ${SCHEMA}.leases where id = any(ids))`
const EMPTY = TABLES.map((table) => `delete from ${SCHEMA}.${table};`).join('\n')

let database: Database
let admin: pg.Client
/** One pool for all tests: its connections keep their prepared statements, which is most of what a test waits for. */
let pool: pg.Pool

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client
}

beforeAll(async () => {
  database = await createDatabase(inject('postgres'))
  await (await openPostgres({ url: database.url, schema: SCHEMA })).close()
  admin = await connected()
  await admin.query(CLOCK)
  pool = new pg.Pool({ connectionString: database.url, max: 10 })
  // Dropping the database may cut off a connection that was already told to end.
  pool.on('error', () => {})
})

afterAll(async () => {
  await Promise.all([admin.end(), pool.end()])
  await database.drop()
})

storeConformance<PostgresStore>('postgres', {
  async open() {
    await admin.query(`${EMPTY} update ${SCHEMA}.test_clock set at = start_at`)
    return openPostgres({ pool, schema: SCHEMA })
  },
  async close(store) {
    await store.close()
    expect((await admin.query(UNWATCHED)).rows).toEqual([])
  },
  async advance(_, ms) {
    await admin.query(`update ${SCHEMA}.test_clock set at = at + $1 * interval '1 ms'`, [ms])
  },
  second: () => openPostgres({ url: database.url, schema: SCHEMA, migrate: false }),
  async begin(): Promise<OpenTransaction> {
    const client = await connected()
    await client.query('begin')
    const end = async (how: string): Promise<void> => {
      await client.query(how)
      await client.end()
    }
    return { tx: client, commit: () => end('commit'), rollback: () => end('rollback') }
  },
  async alter(_, { table, id, set }) {
    const { rowCount } = await admin.query(`update ${SCHEMA}.${table} set ${set} where id = $1`, [id])
    expect(rowCount).toBe(1)
  },
  hold: async () => openHeldPostgres(await connected(), { schema: SCHEMA, admin }),
})
