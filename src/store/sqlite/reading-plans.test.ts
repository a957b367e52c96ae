/** Holds the plans by which people's questions are answered: each by an index, whatever the tables have grown to. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ScheduleFilter } from '../contract/schedules.ts'
import { type Database, openDatabase } from './driver.ts'
import { FEED } from './feed.ts'
import { BY_ID, edgeOf, OVERDUE, pageOf, walkOf } from './find.ts'
import { nonRunEdge, nonRunPage } from './find-non-runs.ts'
import { LAST_FIRED, LATEST } from './latest.ts'
import { PASSED_OVER, RETRYING, RUNNING, SUCCESSES, UNKNOWN_JOBS, UNSUCCESSFUL, WAITING } from './monitoring.ts'
import { migrationSql } from './schema.ts'
import { COUNT, ENDED, OLDEST, PASSED, READ, UNTIL } from './stats.ts'
import { STRETCH } from './timing-classes.ts'

let database: Database

beforeAll(async () => {
  database = await openDatabase(':memory:')
  database.exec(migrationSql())
})

afterAll(() => database.close())

const planOf = (text: string): string[] =>
  (database.prepare(`explain query plan ${text}`).all() as { detail: string }[]).map(({ detail }) => detail)

/** Lines that read a table of ours, or an index of it, from one end to the other. */
const scans = (text: string): string[] =>
  planOf(text).filter((line) => /^SCAN (?:everytick_\w+|[acdhjnprst])\b/.test(line))

const after = { workspace: 'w', key: 'k' }
const questionsOf = (filter: ScheduleFilter, few = false): string[] => {
  const walk = walkOf(filter, { before: filter.overdueMs === undefined ? null : 0, few })
  const edge = edgeOf(walk, after)
  return [pageOf(walk, { limit: 10, after, upTo: after }).text, ...(edge ? [edge.text] : [])]
}

/** Ten thousand schedules and ends, and statistics of that. */
function fill(): void {
  database.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
    insert into everytick_schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up,
      description, tags, metadata, source, created_at, updated_at, pause, quarantine, firing, created_by, updated_by, since_at)
      select 's' || i, 'w' || (i % 10), 'k' || i, 1, '{}', 'j', 'q', '{}', 5, '{}', '{}', '', iif(i % 50, '[]', '["x"]'), '{}',
        iif(i % 10, 'api', 'code'), 0, 0, iif(i % 20, null, '{}'), iif(i % 100, null, '{}'), '{}', 'api', 'api', 0 from n;
    insert into everytick_cursors (schedule_id, next_at, watermark_at, revision) select id, rowid, 0, 1 from everytick_schedules;
    insert into everytick_history (id, workspace, job, queue, state, trigger, priority, schedule_id, scheduled_at, due_at,
      created_at, payload, policy, attempt, fence, finished_at, cancel_requested)
      select 'r' || rowid, workspace, 'j', 'q', 'succeeded', 'schedule', 5, id, rowid, rowid, rowid, '{}', '{}', 1, 1, rowid, 0
      from everytick_schedules;
    insert into everytick_non_runs (schedule_id, from_at, to_at, count, state, reason, recorded_at, detail)
      select id, rowid, rowid, 1, 'skipped', 'paused', rowid, '' from everytick_schedules;
    analyze;`)
}

describe.each(['when empty', 'when full and analysed'])('the plans of SQLite %s', (state) => {
  beforeAll(() => {
    if (state !== 'when empty') fill()
  })

  it.each<[ScheduleFilter, string]>([
    [{}, 'sqlite_autoindex_everytick_schedules'],
    [{ workspace: 'w', job: 'j' }, 'sqlite_autoindex_everytick_schedules'],
    [{ text: 'x' }, 'sqlite_autoindex_everytick_schedules'],
    [{ tag: 'x', job: 'j' }, 'SEARCH t USING PRIMARY KEY (tag=?'],
    [{ paused: true, job: 'j' }, 'everytick_schedules_paused'],
    [{ quarantined: true }, 'everytick_schedules_quarantined'],
    [{ source: 'code', text: 'x' }, 'everytick_schedules_code'],
    [{ overdueMs: 5 }, 'sqlite_autoindex_everytick_schedules'],
  ])('find %j in its order, by an index that has it', (filter, index) => {
    for (const text of questionsOf(filter)) {
      expect(scans(text)).toEqual([])
      expect(planOf(text)[0]).toContain(index)
      expect(planOf(text).join()).not.toContain('TEMP B-TREE')
    }
  })

  it('find few overdue schedules by their cursors', () => {
    expect(questionsOf({ overdueMs: 5 }, true).map((text) => planOf(text)[0])).toEqual([
      expect.stringMatching(/^SEARCH c USING .*everytick_cursors_due \(next_at<\?\)/),
    ])
    expect(scans(OVERDUE)).toEqual([])
  })

  it('find one schedule, and the newest runs of one, by ids', () => {
    for (const text of [BY_ID, LATEST, LAST_FIRED]) expect(scans(text)).toEqual([])
    expect(planOf(LATEST).join()).toContain('everytick_history_slot (schedule_id=?')
    const fired = planOf(LAST_FIRED).join()
    expect(fired).toContain('everytick_history_slot (schedule_id=? AND scheduled_at<?)')
    expect(fired).toContain('everytick_runs_occurrence (schedule_id=? AND scheduled_at<?)')
    expect(fired).toContain('everytick_runs_backfill (schedule_id=? AND scheduled_at<?)')
    expect(fired).not.toContain('TEMP B-TREE')
  })

  it.each([
    [{}, 'everytick_non_runs_newest'],
    [{ workspace: 'w', job: 'j', states: ['missed'] as const }, 'everytick_non_runs_newest'],
    [{ scheduleId: 's1' }, 'everytick_non_runs_schedule (schedule_id=?'],
    [{ scheduleId: 's1', states: ['skipped'] as const }, 'everytick_non_runs_schedule (schedule_id=?'],
  ])('list what became no run, of %j, in its order by an index that has it', (filter, index) => {
    for (const after of [undefined, { toAt: 5, scheduleId: 's2' }]) {
      const page = { limit: 10, ...(after ? { after } : {}) }
      for (const { text } of [nonRunPage(filter, page), nonRunEdge(filter, page)]) {
        const lines = planOf(text)
        // Without a beginning, the newest is read from the end of its index, and no further than one call looks.
        const reads = lines.filter((line) => line.includes('everytick_non_runs'))
        expect(reads).toEqual([expect.stringContaining(index)])
        expect(lines.join()).not.toContain('TEMP B-TREE')
        expect(lines.filter((line) => /SCAN (?:s|r)\b/.test(line))).toEqual([])
      }
    }
  })

  it('tell what happened by the index of its instants', () => {
    for (const { all, ofOne } of FEED) {
      for (const text of [all, ofOne]) {
        expect(scans(text)).toEqual([])
        expect(planOf(text)[0]).toMatch(
          /^SEARCH .* \((?:kind=\? AND )?(?:finished_at|at|recorded_at|updated_at)>\? AND /,
        )
      }
    }
  })

  it('sum up by the instants at which runs ended, and read sums by their scope', () => {
    for (const text of [UNTIL, COUNT, ENDED, PASSED, READ]) expect(scans(text)).toEqual([])
    expect(planOf(ENDED).join()).toMatch(/INDEX everytick_history_finished \(/)
    expect(planOf(ENDED).join()).toMatch(
      /SEARCH p USING INDEX everytick_history_slot \(schedule_id=\? AND scheduled_at=\?\)/,
    )
    expect(planOf(PASSED).join()).toMatch(/INDEX everytick_non_runs_recorded \(/)
    expect(planOf(OLDEST).join()).not.toContain('TEMP B-TREE')
    for (const text of [ENDED, PASSED]) expect(planOf(text).join()).not.toContain('TEMP B-TREE')
  })

  it.each([
    ['UNSUCCESSFUL', UNSUCCESSFUL, /everytick_history_unsuccessful_at \(finished_at>\? AND finished_at<\?\)/],
    ['SUCCESSES', SUCCESSES, /everytick_history_schedule \(schedule_id=\?\)/],
    ['PASSED_OVER', PASSED_OVER, /everytick_non_runs_recorded \(recorded_at>\? AND recorded_at<\?\)/],
    ['RETRYING', RETRYING, /everytick_journal_retrying \(at>\? AND at<\?\)/],
    ['WAITING', WAITING, /everytick_runs_pending \(queue=\? AND priority=\? AND due_at<\?\)/],
    ['RUNNING', RUNNING, /everytick_runs_lease/],
    ['UNKNOWN_JOBS', UNKNOWN_JOBS, /everytick_journal_unknown_job \(at>\? AND at<\?\)/],
  ])('answer what alert rules ask (%s) by an index', (name, text, index) => {
    expect(planOf(text).join('\n')).toMatch(index)
    // The index of running runs has no others, and is read as a whole.
    expect(scans(text).filter((line) => name !== 'RUNNING' || !line.includes('everytick_runs_lease'))).toEqual([])
  })

  it('read all schedules in stretches of their places', () => {
    expect(planOf(STRETCH).join()).toContain('SEARCH everytick_schedules USING INTEGER PRIMARY KEY (rowid>?)')
  })
})
