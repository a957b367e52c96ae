/** Holds that a list of runs costs the same whatever history has grown to, and that looks which end early lose nothing. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explain, mostRows, type PlanNode } from '../../../test/postgres/explain.ts'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import type { RunFilter } from '../contract/history.ts'
import type { Store } from '../contract/store.ts'
import { edgeQuestion, pageQuestion, SCAN_ROWS, searchOf } from './find-runs.ts'
import { openPostgres } from './store.ts'

const SCHEMA = '"everytick"'
/** More than a few looks. */
const ENDED = 12 * SCAN_ROWS
const LIMIT = 10
/** A look, or all that one schedule has where that is not much more. */
const MOST = ENDED / 8

let database: Database
let client: pg.Client
let store: Store
let rare: string
let often: string

/** Runs that ended in two days, one after the other; few have failed, and two schedules have many and few of them. */
beforeAll(async () => {
  database = await createReadyDatabase()
  store = await openPostgres({ url: database.url })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  ;[rare, often] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
  await client.query(`
    insert into everytick.history (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
      schedule_revision, scheduled_at, due_at, created_at, payload, policy, attempt, fence, cancel_requested, finished_at, result)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '8' || lpad(to_hex(n), 19, '8'))::uuid,
      case when n % 40000 = 1 then 'small' else 'large' end, 'j' || n % 2, 'q',
      case when n % 100 = 3 then 'failed' else 'succeeded' end, 'schedule', 5,
      case when n % 9000 = 7 then '${rare}' when n % 8 = 0 then '${often}' else gen_random_uuid() end::uuid, 'k', 1,
      at, at, at, 'null', '{}', 1, 1, false, at, 'null'
    from generate_series(1, ${ENDED}) n
    cross join lateral (select date_trunc('second', now()) - interval '1 day' + n * interval '500 milliseconds' as at) t`)
  // Made by hand, of the same schedule: the id alone says when.
  await client.query(`
    update everytick.history set scheduled_at = null, trigger = 'manual' where schedule_id = '${rare}' and id = (
      select id from everytick.history where schedule_id = '${rare}' order by id limit 1)`)
  await client.query('vacuum analyze everytick.history')
}, 60_000)

afterAll(async () => {
  await client.end()
  await store.close()
  await database.drop()
})

const planOf = ([{ text }, values]: ReturnType<typeof pageQuestion>): Promise<PlanNode[]> =>
  explain(client, { text, values, mode: 'force_custom_plan' })

const FILTERS: readonly [string, () => RunFilter][] = [
  ['all', () => ({})],
  ['a small workspace', () => ({ workspace: 'small' })],
  ['a job that nobody has', () => ({ job: 'nobody' })],
  ['failures', () => ({ states: ['failed'] })],
  ['failures of a small workspace', () => ({ states: ['failed'], workspace: 'small' })],
  ['what is running', () => ({ states: ['running'] })],
  ['a schedule that ran a few times', () => ({ scheduleId: rare })],
  ['a schedule that ran often', () => ({ scheduleId: often })],
  ['failures of a schedule that ran often', () => ({ scheduleId: often, states: ['failed'] })],
]

describe('a list of runs', () => {
  it.each(FILTERS)('of %s reads a bounded number of rows', async (_, filter) => {
    const search = searchOf(SCHEMA, filter())
    const edges = edgeQuestion(search, { limit: LIMIT })
    const edge = edges
      ? ((await client.query(edges[0].text, edges[1])).rows[0] as { id: string } | undefined)
      : undefined
    if (edges) expect(mostRows(await planOf(edges))).toBeLessThanOrEqual(MOST)
    expect(mostRows(await planOf(pageQuestion(search, { limit: LIMIT }, edge)))).toBeLessThanOrEqual(MOST)
  })

  it('of failures passes over nothing that went well', async () => {
    const nodes = await planOf(pageQuestion(searchOf(SCHEMA, { states: ['failed'] }), { limit: LIMIT }, undefined))
    expect(mostRows(nodes)).toBeLessThanOrEqual(ENDED / 100)
  })

  it.each(FILTERS)('of %s is the same by looks and by a question to the table', async (_, filter) => {
    const { workspace = null, job = null, scheduleId = null, states = null } = filter()
    const { rows } = await client.query(
      `select id from everytick.history where ($1::text is null or workspace = $1) and ($2::text is null or job = $2)
        and ($3::uuid is null or schedule_id = $3) and ($4::text[] is null or state = any($4)) order by id desc`,
      [workspace, job, scheduleId, states],
    )
    const seen: string[] = []
    for (let after: { readonly id: string } | null | undefined; after !== null; ) {
      const { runs, next } = await store.history.find(filter(), { limit: 4000, ...(after ? { after } : {}) })
      seen.push(...runs.map(({ id }) => id))
      after = next
    }
    expect(seen).toEqual(rows.map(({ id }) => id))
  })

  it('is full although one look finds too few', async () => {
    expect((await store.history.find({ workspace: 'small' }, { limit: 3 })).runs.length).toBeLessThan(3)
    expect(await store.history.runs({ workspace: 'small' }, { limit: 3 })).toHaveLength(3)
  })
})
