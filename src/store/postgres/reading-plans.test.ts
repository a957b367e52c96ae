/** Holds the plans by which people's questions are answered: whatever the tables have grown to, a bounded number of rows is read. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explain, mostRows, type PlanNode, readWhole } from '../../../test/postgres/explain.ts'
import type { Database } from '../../../test/postgres/launcher.ts'
import { createReadyDatabase } from '../../../test/postgres/ready-database.ts'
import type { ScheduleFilter } from '../contract/schedules.ts'
import { SCAN_ROWS as ENDED_SCAN, overStatement } from './ended-schedules.ts'
import { feedStatement } from './feed.ts'
import { findQuestion, overdueStatement, SCAN_ROWS, walkOf } from './find.ts'
import { SCAN_ROWS as NON_RUN_SCAN, nonRunEdge, nonRunPage } from './find-non-runs.ts'
import { lastFiredStatement, latestStatement } from './latest.ts'
import {
  passedOverStatement,
  retryingStatement,
  runningStatement,
  successesStatement,
  unknownJobsStatement,
  unsuccessfulStatement,
  waitingStatement,
} from './monitoring.ts'
import { FIRST_ID } from './rows.ts'
import { plain } from './statement.ts'
import { endedStatement, readStatement, scanStatement } from './stats-statements.ts'
import { openPostgres } from './store.ts'

const SCHEMA = '"everytick"'
const SCHEDULES = 40_000
const ENDS = 40_000

let database: Database
let client: pg.Client
let ids: string[]

/** Schedules of which few are paused, ill or tagged; and a day of runs that ended one after another. */
beforeAll(async () => {
  database = await createReadyDatabase()
  await (await openPostgres({ url: database.url })).close()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`
    insert into everytick.schedules
    select gen_random_uuid(), 'w' || n % 4, md5(n::text), 1, '{}', 'j' || n % 7, 'q', '{}', 5, '{}', '{}', '',
      case when n % 4 = 0 then '["x"]' when n % 4 = 1 then '["y", "z"]' else '[]' end::jsonb, 'null', case when n % 100 = 1 then 'code' else 'api' end, now(), now(),
      case when n % 100 = 2 then '{}'::jsonb end, case when n % 1000 = 3 then '{}'::jsonb end, '{}', 'api', 'api', now()
    from generate_series(1, ${SCHEDULES}) n`)
  await client.query(`
    insert into everytick.cursors
    select id, now() + (case when substr(key, 1, 2) = '00' then -1 else 1 end) * interval '1 hour', now(), now(), 1
    from everytick.schedules`)
  await client.query(`
    insert into everytick.history (id, workspace, job, queue, state, trigger, priority, schedule_id, scheduled_at, due_at,
      created_at, payload, policy, attempt, fence, cancel_requested, finished_at, result)
    select gen_random_uuid(), 'w' || n % 4, 'j', 'q', 'succeeded', 'schedule', 5, s.id, at, at, at, '{}', '{}', 1, 1, false, at, 'null'
    from (select id, row_number() over () as n from everytick.schedules) s
    cross join lateral (select date_trunc('day', now(), 'UTC') + s.n * interval '2 seconds' as at) t
    where s.n <= ${ENDS} order by s.n`)
  await client.query(`
    insert into everytick.non_runs (schedule_id, from_at, to_at, count, state, reason, detail, recorded_at)
    select schedule_id, finished_at, finished_at, 1, 'skipped', 'overlap', '', finished_at from everytick.history`)
  await client.query(`
    insert into everytick.runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy, attempt,
      fence, cancel_requested)
    select gen_random_uuid(), 'w', 'j', 'q' || abs(n) % 10, 'pending', 'enqueue', abs(n) % 10, now() + n * interval '1 s', now(), '{}', '{}', 0, 0, false
    from generate_series(-500, 40000) n`)
  await client.query(`
    insert into everytick.journal (at, kind, run_id, schedule_id, data)
    select finished_at, 'retry', id, schedule_id, '{}' from everytick.history`)
  await client.query(
    'vacuum analyze everytick.schedules, everytick.cursors, everytick.history, everytick.tags, everytick.non_runs, everytick.runs, everytick.journal',
  )
  ids = (await client.query('select id from everytick.schedules limit 50')).rows.map(({ id }) => id as string)
}, 60_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

const planOf = ([{ text }, values]: ReturnType<typeof findQuestion>): Promise<PlanNode[]> =>
  explain(client, { text, values, mode: 'force_custom_plan' })

const indexesOf = (nodes: readonly PlanNode[]): string[] => nodes.flatMap((node) => node['Index Name'] ?? [])

/** Tables of which rows were read from end to end; days without any may be looked at as they are. */
const tables = (nodes: readonly PlanNode[]): string[] =>
  readWhole(
    nodes.filter((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'] > 0),
  )

describe('finding schedules', () => {
  it.each<[ScheduleFilter, string]>([
    [{}, 'schedules_workspace_key_key'],
    [{ workspace: 'w1' }, 'schedules_workspace_key_key'],
    [{ job: 'nobody' }, 'schedules_workspace_key_key'],
    [{ text: 'nowhere' }, 'schedules_workspace_key_key'],
    [{ tag: 'x' }, 'tags_pkey'],
    [{ tag: 'x', job: 'nobody' }, 'tags_pkey'],
    [{ paused: true, job: 'nobody' }, 'schedules_paused'],
    [{ quarantined: true }, 'schedules_quarantined'],
    [{ source: 'code' }, 'schedules_code'],
    [{ overdueMs: 0, job: 'nobody' }, 'schedules_workspace_key_key'],
  ])('%j goes by %s and looks at no more than it may', async (filter, index) => {
    for (const after of [undefined, { workspace: 'w1', key: '5' }]) {
      const nodes = await planOf(
        findQuestion(SCHEMA, walkOf(SCHEMA, filter, false), { limit: 50, ...(after ? { after } : {}) }),
      )
      expect(readWhole(nodes)).toEqual([])
      expect(indexesOf(nodes)).toContain(index)
      expect(mostRows(nodes)).toBeLessThanOrEqual(2 * SCAN_ROWS)
    }
  })

  it('finds few that are overdue by their cursors', async () => {
    const nodes = await planOf(findQuestion(SCHEMA, walkOf(SCHEMA, { overdueMs: 0 }, true), { limit: 50 }))
    expect(readWhole(nodes)).toEqual([])
    expect(indexesOf(nodes)).toContain('cursors_due')
    const few = await explain(client, { text: overdueStatement(SCHEMA).text, values: [0] })
    expect(readWhole(few)).toEqual([])
  })
})

describe('what alert rules ask', () => {
  const midnight = () => Math.floor(Date.now() / 86_400_000) * 86_400_000
  it.each<[string, { readonly text: string }, () => readonly (string | number)[]]>([
    ['what failed', unsuccessfulStatement(SCHEMA), () => [midnight(), midnight() + 86_400_000, 1000]],
    ['what succeeded', successesStatement(SCHEMA), () => [plain(ids)]],
    ['what was passed over', passedOverStatement(SCHEMA), () => [midnight(), midnight() + 86_400_000, 1000]],
    ['what waits for a retry', retryingStatement(SCHEMA), () => [midnight(), midnight() + 86_400_000, 1000]],
    ['what waits', waitingStatement(SCHEMA), () => ['q1', Date.now(), 100]],
    ['what runs', runningStatement(SCHEMA), () => [Date.now(), 100]],
    ['which jobs nobody has', unknownJobsStatement(SCHEMA), () => [midnight(), midnight() + 86_400_000, 1000]],
  ])('%s is found by an index, a bounded number of rows', async (_, { text }, values) => {
    const nodes = await explain(client, { text, values: [...values()] })
    expect(tables(nodes)).toEqual([])
    expect(mostRows(nodes)).toBeLessThanOrEqual(1100)
  })
})

describe('what happened', () => {
  const midnight = () => Math.floor(Date.now() / 86_400_000) * 86_400_000

  it('is read from the pages that have it', async () => {
    const span = [midnight() + 20_000_000, midnight() + 20_003_000, 100]
    for (const [isOne, values] of [
      [false, span],
      [true, [...span, 'w1']],
    ] as const) {
      const nodes = await planOf([feedStatement(SCHEMA, isOne), [...values]])
      expect(tables(nodes)).toEqual([])
      expect(mostRows(nodes)).toBeLessThanOrEqual(5000)
    }
  })

  it('is summed up from those pages too, and sums are read by their scope', async () => {
    const values = [midnight() + 20_100_000, midnight() + 20_400_000]
    const nodes = await planOf([endedStatement(SCHEMA, { scope: 'all', doubled: true }), values])
    expect(tables(nodes)).toEqual([])
    expect(mostRows(nodes)).toBeLessThanOrEqual(5000)
    for (const [statement, given] of [
      [readStatement(SCHEMA), [0, 4e12, 'all']],
      [scanStatement(SCHEMA), []],
    ] as const)
      expect(mostRows(await explain(client, { text: statement.text, values: given }))).toBeLessThanOrEqual(1)
  })

  it('is told of the newest runs by schedule', async () => {
    const nodes = await explain(client, { text: latestStatement(SCHEMA).text, values: [plain(ids), 5] })
    expect(tables(nodes)).toEqual([])
    expect(mostRows(nodes)).toBeLessThanOrEqual(500)
  })

  it('is told of what became no run by looks of a bounded number of rows, in their order', async () => {
    const { rows } = await client.query(`
      with made as (
        insert into everytick.non_runs (schedule_id, from_at, to_at, count, state, reason, detail, recorded_at)
        select id, now() - n * interval '1 second', now() - n * interval '1 second', 1, 'skipped', 'paused', '', now()
        from (select id, row_number() over () as at from everytick.schedules) s cross join generate_series(1, 40) n
        where s.at <= 1000
        returning schedule_id)
      select schedule_id as id from made limit 1`)
    await client.query('vacuum analyze everytick.non_runs')
    const after = { toAt: Date.now() - 5000, scheduleId: rows[0].id as string }
    for (const filter of [
      {},
      { workspace: 'nobody' },
      { states: ['missed' as const] },
      { scheduleId: after.scheduleId },
    ]) {
      for (const page of [{ limit: 10 }, { limit: 10, after }]) {
        for (const question of [nonRunPage(SCHEMA, filter, page), nonRunEdge(SCHEMA, filter, page)]) {
          const nodes = await planOf(question)
          expect(readWhole(nodes)).toEqual([])
          // The few rows of one schedule may be sorted; which way is cheaper depends on where they lie.
          if (!('scheduleId' in filter)) expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort')
          expect(mostRows(nodes)).toBeLessThanOrEqual(NON_RUN_SCAN)
        }
      }
    }
  })

  it('is told of schedules that are over by their own index', async () => {
    await client.query(`
      update everytick.cursors set next_at = null, watermark_at = now() - interval '90 days'
      where schedule_id in (select schedule_id from everytick.cursors limit 2000)`)
    await client.query('vacuum analyze everytick.cursors')
    for (const after of [
      [-62_135_596_800_000, FIRST_ID],
      [Date.now() - 100 * 86_400_000, ids[0]!],
    ] as const) {
      const { text } = overStatement(SCHEMA, 'look')
      const nodes = await explain(client, { text, values: [30 * 86_400_000, ...after] })
      expect(readWhole(nodes)).toEqual([])
      expect(indexesOf(nodes)).toContain('cursors_ended')
      expect(mostRows(nodes)).toBeLessThanOrEqual(ENDED_SCAN)
    }
  })

  it('is told of the last fire of each schedule', async () => {
    const nodes = await explain(client, { text: lastFiredStatement(SCHEMA).text, values: [plain(ids), Date.now()] })
    expect(tables(nodes)).toEqual([])
    expect(mostRows(nodes)).toBeLessThanOrEqual(500)
  })
})
