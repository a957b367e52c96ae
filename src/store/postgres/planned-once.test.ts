/** Holds that the server keeps the plans of what a worker repeats, also in a pool of the caller's, where nothing tells it to. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { newRun, SUCCEEDED } from '../../testing/conformance/samples.ts'
import { openPostgres, type PostgresStore } from './store.ts'

/** A server plans a prepared statement again five times before it thinks of keeping a plan. */
const TRIES = 5
const REPEATED = 20

let database: Database
let pool: pg.Pool
let store: PostgresStore

beforeAll(async () => {
  database = await createReadyDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 1 })
  store = await openPostgres({ pool, listen: false })
})

afterAll(async () => {
  await store.close()
  await pool.end()
  await database.drop()
})

it('runs that come one by one are enqueued, granted and ended by plans that are kept', async () => {
  for (let i = 0; i < REPEATED; i++) {
    await store.runs.enqueue([newRun()])
    const { runs } = await store.claims.claim({
      workerId: 'w',
      leaseMs: 60_000,
      wanted: [{ queue: 'default', limit: 9 }],
    })
    const ended = runs.map(({ id, fence, claimId }) => ({ id, fence, claimId, workerId: 'w', verdict: SUCCEEDED }))
    expect(await store.claims.settle(ended)).toEqual(['accepted'])
  }
  const { rows } = await pool.query<{ statement: string; custom_plans: string }>(
    'select statement, custom_plans from pg_prepared_statements where custom_plans + generic_plans >= $1',
    [REPEATED],
  )
  expect(rows.length).toBeGreaterThanOrEqual(3)
  expect(rows.filter(({ custom_plans }) => Number(custom_plans) > TRIES).map(({ statement }) => statement)).toEqual([])
})
