/** Holds the plans for documents, the audit log and lines of runs: however many there are, only what is asked for is read. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explain, mostRows, type PlanNode, readWhole } from '../../../test/postgres/explain.ts'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import { listStatement as auditPage, newestStatement, walkStatement } from './audit-log.ts'
import { getStatement, listStatement, statesStatement } from './documents.ts'
import { readStatement } from './logs.ts'
import type { Statement, Value } from './statement.ts'
import { openPostgres } from './store.ts'

const SCHEMA = '"everytick"'
const ROWS = 20_000
const RUN = '00000000-0000-4000-8000-000000000007'

let database: Database
let client: pg.Client

/** One workspace and one state have nearly all of it, and another very little. */
const FILL = `
  insert into everytick.documents
  select case when n % 2 = 0 then 'alert' else 'request' end, lpad(n::text, 8, '0'), case when n % 1000 = 0 then 'small' else 'large' end,
    case when n % 500 = 0 then 'open' else 'done' end, '{}', 1, now(), now(), null from generate_series(1, ${ROWS}) n;
  insert into everytick.audit_log
  select n, now(), case when n % 1000 = 0 then 'small' else 'large' end, 'ana', 'a', 't', '1', '2', '3', '', '' from generate_series(1, ${ROWS}) n;
  insert into everytick.logs (stored_at, run_id, attempt, at, level, message)
  select now() + (n % 5) * interval '1 day', ('00000000-0000-4000-8000-' || lpad((n % 1000)::text, 12, '0'))::uuid, 1, now(), 'info', 'm'
  from generate_series(1, ${ROWS}) n;
  analyze everytick.documents, everytick.audit_log, everytick.logs`

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

/** As the store has it planned: prepared ones for any values, the others for these. */
async function planned({ text, name }: Statement, values: readonly Value[]): Promise<PlanNode[]> {
  const mode = name ? 'force_generic_plan' : 'force_custom_plan'
  const nodes = await explain(client, { text, values, mode })
  expect(readWhole(nodes)).toEqual([])
  return nodes
}

describe('the plans of Postgres', () => {
  it.each([
    ['all', null, null, null],
    ['those after another', null, null, '00010000'],
    ['those of a small workspace', 'small', null, null],
    ['those of a large workspace', 'large', null, '00010000'],
    ['those in a rare state', null, 'open', null],
    ['those in a state that most have', null, 'done', '00010000'],
  ])('list documents by an index: %s', async (_, workspace, state, after) => {
    const nodes = await planned(listStatement(SCHEMA), ['alert', workspace, state, after, 50])
    expect(mostRows(nodes)).toBeLessThanOrEqual(100)
  })

  it('go from state to state of a kind by their index, however many documents are in each', async () => {
    expect(mostRows(await planned(statesStatement(SCHEMA), ['alert', '', 100]))).toBeLessThanOrEqual(100)
  })

  it('find a document by its key', async () => {
    expect(mostRows(await planned(getStatement(SCHEMA), ['alert', '00010000']))).toBe(1)
  })

  it.each([
    ['all', null, 10_000],
    ['those of a small workspace', 'small', null],
    ['those of a large workspace', 'large', 10_000],
  ])('page through the audit log by an index: %s', async (_, workspace, before) => {
    expect(mostRows(await planned(auditPage(SCHEMA), [workspace, before, 50]))).toBeLessThanOrEqual(100)
  })

  it('find the newest entry of the audit log, and walk it, by its numbers', async () => {
    expect(mostRows(await planned(newestStatement(SCHEMA), []))).toBe(1)
    expect(mostRows(await planned(walkStatement(SCHEMA), [15_000, 100]))).toBe(100)
  })

  it('read the lines of one run, whatever day they were stored on, and no other', async () => {
    expect(mostRows(await planned(readStatement(SCHEMA), [RUN, 0, 1000]))).toBeLessThanOrEqual(20)
    expect(mostRows(await planned(readStatement(SCHEMA), [RUN, 0, 5]))).toBeLessThanOrEqual(10)
  })
})
