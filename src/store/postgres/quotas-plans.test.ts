/** Holds the plans for what quotas count: however much other workspaces have, only as much is read as is counted. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explain, mostRows, readWhole } from '../../../test/postgres/explain.ts'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { COUNTED, NAMED } from '../contract/quotas.ts'
import { countStatement, namesStatement } from './quotas.ts'
import type { Statement } from './statement.ts'
import { openPostgres } from './store.ts'

const SCHEMA = '"everytick"'
const ROWS = 20_000

let database: Database
let client: pg.Client

/** One workspace has nearly all of it, and another very little. */
const ID = `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`
const WHOSE = `case when n % 1000 = 0 then 'small' else 'large' end`
const FILL = `
  insert into everytick.runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy, attempt, fence,
    cancel_requested)
  select ${ID}, ${WHOSE}, 'j', 'q' || n % 10, 'pending', 'enqueue', 5, now(), now(), '{}', '{}', 0, 0, false from generate_series(1, ${ROWS}) n;
  insert into everytick.schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up, description,
    tags, metadata, source, created_at, updated_at, firing, created_by, updated_by, since_at)
  select ${ID}, ${WHOSE}, n::text, 1, '{}', 'j', 'q' || n % 10, '{}', 5, '{}', '{}', '', '[]', '{}', 'api', now(), now(), '{}', 'api', 'api', now()
  from generate_series(1, ${ROWS}) n;
  insert into everytick.tags select 't' || n % 10, ${WHOSE}, n::text from generate_series(1, ${ROWS}) n;
  insert into everytick.documents
  select case when n % 2 = 0 then 'channel' else 'alert_rule' end, lpad(n::text, 8, '0'), ${WHOSE}, '', '{}', 1, now(), now(), null
  from generate_series(1, ${ROWS}) n;
  analyze everytick.runs, everytick.schedules, everytick.tags, everytick.documents`

beforeAll(async () => {
  database = await createReadyDatabase()
  await (await openPostgres({ url: database.url })).close()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(FILL)
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

async function rowsRead({ text }: Statement, workspace: string, upTo: number): Promise<number> {
  const nodes = await explain(client, { text, values: [workspace, upTo], mode: 'force_generic_plan' })
  expect(readWhole(nodes)).toEqual([])
  return mostRows(nodes)
}

describe('the plans of Postgres', () => {
  it.each(COUNTED)('count no further than is asked: %s', async (what) => {
    const statement = countStatement(SCHEMA, what)
    expect(await rowsRead(statement, 'large', 101)).toBeLessThanOrEqual(101)
    expect(await rowsRead(statement, 'small', 101)).toBeLessThanOrEqual(25)
  })

  it.each(NAMED)('read one row for each name: %s', async (what) => {
    const statement = namesStatement(SCHEMA, what)
    expect(await rowsRead(statement, 'large', 101)).toBeLessThanOrEqual(25)
    expect(await rowsRead(statement, 'large', 4)).toBeLessThanOrEqual(10)
  })
})
