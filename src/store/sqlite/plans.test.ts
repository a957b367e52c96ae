import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backfillsOf } from './backfills.ts'
import { CLAIM, CLAIMED, DUE_RUNS, DUE_RUNS_OF, NEXT_DUE } from './claim.ts'
import { DUE_AFTER, DUE_UP_TO } from './claim-fair.ts'
import { EXPIRED } from './claims.ts'
import { type Database, openDatabase } from './driver.ts'
import { BACKLOG, DUE, DUE_OF, NEXT_CURSOR } from './due.ts'
import { ENDED } from './ended-schedules.ts'
import { KNOWN } from './enqueue.ts'
import { ARCHIVE, FORGET, SEEN as SEEN_RUNS } from './finish.ts'
import { TAKEN } from './group-order.ts'
import { ANYBODY, GROUP_SCAN, GROUP_SCAN_OF, OPEN_RUN, RUNS_IN_LINE } from './groups.ts'
import { edgeOf, pageOf } from './history.ts'
import { NON_RUNS, REVISIONS, SLOTS } from './ledger.ts'
import { GROW } from './non-runs.ts'
import { FIND } from './put.ts'
import { RUNNING } from './queue-settings.ts'
import { NEXT_QUEUES, PENDING_QUEUES, READY, RUNNING_BY_QUEUE, WORKSPACE } from './queues.ts'
import { INSERT_RUNS, INSERTED, MOVE, SEEN as SEEN_CURSORS } from './record.ts'
import { RETRACT } from './retract.ts'
import { listOf } from './schedules.ts'
import { migrationSql } from './schema.ts'
import { ORPHANS, SHELVES, sweepOf } from './upkeep.ts'

let database: Database

/** How SQLite goes about a statement, one line for each table it touches. */
const planOf = (text: string): string[] =>
  (database.prepare(`explain query plan ${text}`).all() as { detail: string }[]).map(({ detail }) => detail)

/** Lines that read a table or an index of ours from one end to the other. */
const scans = (text: string): string[] =>
  planOf(text).filter((line) => /SCAN (?:\w+ USING|everytick_|[coprs]\b)/.test(line))

beforeAll(async () => {
  database = await openDatabase(':memory:')
  database.exec(migrationSql())
})

afterAll(() => database.close())

/** Ten thousand of each, all due or all done, and statistics of that: what could most tempt a planner away. */
function fill(): void {
  database.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
    insert into everytick_cursors (schedule_id, next_at, watermark_at, revision) select 'c' || i, i, 0, 1 from n;
    insert into everytick_schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up,
      description, tags, metadata, source, created_at, updated_at, firing, created_by, updated_by, since_at) select schedule_id, 'w', schedule_id, 1, '{}', 'j', 'q', '{}', 5, '{}', '{}', '', '[]',
      '{}', iif(next_at % 10, 'api', 'code'), 0, 0, '{}', 'api', 'api', 0 from everytick_cursors;
    update everytick_schedules set pause = '{"by":"sync","at":5}' where rowid % 100 = 0;
    insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy)
      select schedule_id, 'w', 'j', 'q', 'pending', 'enqueue', 5, next_at, 0, '{}', '{}' from everytick_cursors;
    update everytick_runs set state = 'running', worker_id = 'w1', lease_until = due_at, started_at = 0 where rowid % 2;
    insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, scheduled_at, due_at, created_at,
      payload, policy, concurrency_group, overlap, readiness)
      select 'l' || next_at, 'w' || (next_at % 50), 'j', 'q', 'pending', iif(next_at % 9, 'schedule', 'backfill'), 5,
        's' || (next_at % 100), next_at, next_at, 0, '{}', '{}', 'concurrency_group' || (next_at / 10), 'queue',
        iif(next_at % 10, iif(next_at % 3, 'undecided', 'blocked'), 'ready') from everytick_cursors;
    insert into everytick_non_runs select schedule_id, next_at, next_at, 1, 'skipped', 'paused', next_at, '', 0 from everytick_cursors;
    insert into everytick_revisions (schedule_id, workspace, key, kind, revision, at, by, cut_at, before, after)
      select 's' || (next_at % 100), 'w', 'k', 'edited', 1, next_at, 'ana', 0, '{}', '{}' from everytick_cursors;
    insert into everytick_history (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy,
      attempt, fence, finished_at, cancel_requested)
      select id, 'w', 'j', 'q', 'succeeded', 'enqueue', 5, due_at, due_at, '{}', '{}', 1, 1, due_at, 0 from everytick_runs;
    analyze;`)
}

describe.each(['when empty', 'when full and analysed'])('the plans of SQLite %s', (state) => {
  beforeAll(() => {
    if (state !== 'when empty') fill()
  })

  it('find due schedules by the index of cursors, and only those', () => {
    expect(planOf(DUE)).toEqual([
      'CO-ROUTINE c',
      expect.stringMatching(/^SEARCH everytick_cursors USING .*INDEX everytick_cursors_due \(next_at<\?\)/),
      'SCAN c',
      expect.stringMatching(/^SEARCH s USING INDEX sqlite_autoindex_everytick_schedules_\d \(id=\?\)/),
    ])
    expect(planOf(NEXT_CURSOR)).toEqual([expect.stringMatching(/^SEARCH .*INDEX everytick_cursors_due \(next_at>\?\)/)])
  })

  it('tell a crowd of due schedules by the index of cursors alone, and go from each of its ids to its rows', () => {
    expect(scans(BACKLOG)).toEqual([])
    expect(planOf(BACKLOG).join()).toContain('everytick_cursors USING COVERING INDEX everytick_cursors_due (next_at<?)')
    expect(scans(DUE_OF)).toEqual([])
    expect(planOf(DUE_OF).join()).toMatch(/SEARCH c USING PRIMARY KEY \(schedule_id=\?\).*SEARCH s USING INDEX/)
  })

  it('claim due runs by the index of pending runs, and never pass over those still to come', () => {
    // Chosen in the order of the index, and then put into one text.
    const chosen = (line: RegExp): unknown[] => [
      'CO-ROUTINE (subquery-1)',
      expect.stringMatching(line),
      'SCAN (subquery-1)',
    ]
    expect(planOf(DUE_RUNS)).toEqual(
      chosen(/^SEARCH .*everytick_runs_pending \(queue=\? AND priority=\? AND due_at<\?\)/),
    )
    expect(planOf(DUE_RUNS_OF)).toEqual(
      chosen(/INDEX everytick_runs_fair \(queue=\? AND workspace=\? AND priority=\? AND due_at<\?\)/),
    )
    for (const text of [CLAIM, CLAIMED, FORGET]) {
      expect(planOf(text)[0]).toBe('SEARCH everytick_runs USING INTEGER PRIMARY KEY (rowid=?)')
    }
    expect(scans(NEXT_DUE)).toEqual([])
    expect(planOf(NEXT_DUE).join()).toContain('everytick_runs_pending (queue=? AND priority=? AND due_at>?)')
  })

  it('go from workspace to workspace in turn, and see of each no more than whether something is due', () => {
    for (const text of [DUE_AFTER, DUE_UP_TO]) {
      expect(scans(text)).toEqual([])
      expect(planOf(text).join()).toMatch(/everytick_runs_fair \(queue=\? AND workspace>\?/)
      expect(planOf(text).join()).toContain('everytick_runs_fair (queue=? AND workspace=? AND priority=? AND due_at<?)')
      expect(planOf(text).join()).not.toContain('TEMP B-TREE')
    }
  })

  it('count what runs, and what waits, by indexes that have nothing else', () => {
    for (const text of [RUNNING, RUNNING_BY_QUEUE]) {
      expect(planOf(text)[0]).toMatch(/^SCAN everytick_runs USING COVERING INDEX everytick_runs_lease$/)
    }
    for (const text of [READY, NEXT_QUEUES, WORKSPACE]) expect(scans(text)).toEqual([])
    expect(planOf(READY).join()).toContain('everytick_runs_pending (queue=? AND priority=? AND due_at<?)')
    const notReady = /^SCAN everytick_runs USING INDEX everytick_runs_(?:blocked|undecided)$/
    expect(scans(PENDING_QUEUES).filter((line) => !notReady.test(line))).toEqual([])
  })

  it('look into concurrency_groups by their indexes, and read those behind the readiness in line', () => {
    for (const text of [TAKEN, GROUP_SCAN, GROUP_SCAN_OF, OPEN_RUN, RUNS_IN_LINE]) expect(scans(text)).toEqual([])
    expect(planOf(GROUP_SCAN).join()).toMatch(/SEARCH r USING .*INDEX everytick_runs_blocked \(concurrency_group>\?\)/)
    expect(planOf(GROUP_SCAN).join()).toMatch(
      /SEARCH r USING .*INDEX everytick_runs_undecided \(concurrency_group=\? AND due_at<\?\)/,
    )
    expect(planOf(ANYBODY).join()).toMatch(/SCAN everytick_runs USING .*INDEX everytick_runs_(?:blocked|undecided)/)
    expect(planOf(OPEN_RUN).join()).toMatch(/INDEX everytick_runs_group \(concurrency_group=\?\)/)
    for (const text of [GROUP_SCAN, RUNS_IN_LINE]) expect(planOf(text).join()).not.toContain('TEMP B-TREE')
  })

  it('go from each row of a batch to its own, and read no other', () => {
    const tables = (text: string): string[] => planOf(text).filter((line) => / [cdhrs] |everytick_/.test(line))
    expect(tables(SEEN_RUNS)).toEqual([expect.stringMatching(/^SEARCH r USING INDEX .*autoindex.* \(id=\?\)/)])
    expect(tables(ARCHIVE)).toEqual([expect.stringMatching(/^SEARCH r USING INTEGER PRIMARY KEY \(rowid=\?\)/)])
    expect(tables(KNOWN)).toEqual([
      expect.stringMatching(/^SEARCH r USING COVERING INDEX .*autoindex_everytick_runs_\d \(id=\?\)/),
      expect.stringMatching(/^SEARCH h USING COVERING INDEX .*autoindex_everytick_history_\d \(id=\?\)/),
      expect.stringMatching(/^SEARCH d USING COVERING INDEX .*autoindex_everytick_deleted_runs_\d \(id=\?\)/),
    ])
    expect(tables(FIND)).toEqual([
      expect.stringMatching(/^SEARCH s USING INDEX .*autoindex_everytick_schedules_\d \(workspace=\? AND key=\?\)/),
      expect.stringMatching(/^SEARCH c USING PRIMARY KEY \(schedule_id=\?\)/),
    ])
    expect(tables(SEEN_CURSORS)).toEqual([
      expect.stringMatching(/^SEARCH c USING PRIMARY KEY \(schedule_id=\?\)/),
      'SEARCH everytick_runs',
    ])
    expect(tables(INSERTED)).toEqual(['SEARCH everytick_runs USING INTEGER PRIMARY KEY (rowid>?)'])
    expect(tables(MOVE)).toEqual([
      expect.stringMatching(/^SEARCH everytick_cursors USING PRIMARY KEY \(schedule_id=\?\)/),
    ])
    expect(tables(INSERT_RUNS)).toEqual([
      expect.stringMatching(/^SEARCH h USING COVERING INDEX .*autoindex_everytick_history_\d \(id=\?\)/),
      expect.stringMatching(/^SEARCH d USING COVERING INDEX .*autoindex_everytick_deleted_runs_\d \(id=\?\)/),
      expect.stringMatching(/^SEARCH s USING INDEX .*autoindex_everytick_schedules_\d \(id=\?\)/),
    ])
  })

  it('retract by the index of occurrences', () => {
    expect(planOf(RETRACT)).toEqual([expect.stringMatching(/everytick_runs_occurrence \(schedule_id=\?/)])
  })

  it('tell the ledger of a schedule by its own indexes, and never read another’s', () => {
    for (const text of [NON_RUNS, SLOTS, REVISIONS, GROW]) expect(scans(text)).toEqual([])
    expect(planOf(NON_RUNS).join()).toContain('everytick_non_runs_schedule (schedule_id=? AND to_at>?)')
    expect(planOf(GROW).join()).toMatch(
      /everytick_non_runs_(?:schedule \(schedule_id=\? AND to_at=\?|newest \(to_at=\? AND schedule_id=\?)\)/,
    )
    for (const index of ['runs_occurrence', 'runs_backfill', 'history_slot', 'deleted_runs_slot'].map(
      (name) => `everytick_${name}`,
    )) {
      expect(planOf(SLOTS).join()).toContain(`${index} (schedule_id=? AND scheduled_at>? AND scheduled_at<?)`)
    }
    expect(planOf(REVISIONS).join()).toContain('everytick_revisions_schedule (schedule_id=?)')
  })

  it('find schedules that are over by their own index, in its order', () => {
    const lines = planOf(ENDED)
    expect(lines[0]).toMatch(
      /^SEARCH c USING .*everytick_cursors_ended \(watermark_at>\? AND watermark_at<\?\)|everytick_cursors_ended/,
    )
    expect(scans(ENDED)).toEqual([])
    expect(lines.join()).toContain('everytick_runs_occurrence (schedule_id=?')
    expect(lines.join()).not.toContain('TEMP B-TREE')
  })

  it('forget by the age of what is forgotten', () => {
    for (const shelf of SHELVES) expect(scans(sweepOf(shelf)).filter((line) => !line.includes('workers'))).toEqual([])
    const orphans = planOf(`select 1 from everytick_schedules where ${ORPHANS}`).join()
    expect(orphans).toMatch(/INDEX everytick_schedules_orphans \(<expr><\?\)/)
  })

  it('list backfills by schedule, and those that run, by their own indexes', () => {
    const plan = (filter: Partial<Parameters<typeof backfillsOf>[0]>): string =>
      planOf(backfillsOf({ limit: 10, ...filter }).text).join()
    expect(plan({ scheduleId: 's' })).toContain('everytick_backfills_schedule (schedule_id=?)')
    expect(plan({ state: 'running' })).toContain('INDEX everytick_backfills_running')
    const between = plan({ ids: { from: 'a', before: 'b' }, workspace: 'w' })
    expect(between).toMatch(
      /everytick_backfills USING (INDEX sqlite_autoindex_everytick_backfills_1|PRIMARY KEY) \(id>\? AND id<\?\)/,
    )
    expect(between).not.toContain('TEMP B-TREE')
  })

  it('find ended leases by the index of leases', () => {
    expect(planOf(EXPIRED)).toEqual([expect.stringMatching(/^SEARCH .*INDEX everytick_runs_lease \(lease_until<\?\)/)])
  })

  it('list the schedules of the code without passing over those of the API', () => {
    const after = { workspace: 'w', key: 'k' }
    const [first] = planOf(listOf({ source: 'code', limit: 10, after }).text)
    expect(first).toMatch(/^SEARCH s USING INDEX everytick_schedules_source \(source=\? AND \(workspace,key\)>/)
    expect(planOf(listOf({ source: 'code', limit: 10, after }).text).join()).not.toContain('TEMP B-TREE')
  })

  it('page through history by its own order, and through failures by their own index', () => {
    const page = { limit: 10, after: { id: 'x' } }
    const plan = (filter: Parameters<typeof pageOf>[0]): string => planOf(pageOf(filter, page).text).join('\n')
    expect(plan({})).toMatch(/everytick_history USING COVERING INDEX sqlite_autoindex_everytick_history_1 \(id<\?\)/)
    expect(plan({ states: ['failed'] })).toMatch(/everytick_history USING INDEX everytick_history_unsuccessful/)
    expect(plan({ scheduleId: 's' })).toMatch(/INDEX everytick_history_schedule \(schedule_id=\? AND id<\?\)/)
  })

  it('look for runs between two ids where no index has only what is asked for, and find the further one without a look at any', () => {
    const page = { limit: 10, after: { id: 'x' } }
    const look = (filter: Parameters<typeof pageOf>[0]): string =>
      planOf(pageOf(filter, page, { id: 'a' }).text).join('\n')
    const edge = (filter: Parameters<typeof pageOf>[0]): string => planOf(edgeOf(filter, page)!.text).join('\n')
    expect(look({ workspace: 'w' })).toMatch(/everytick_history USING INDEX \S+_1 \(id>\? AND id<\?\)/)
    expect(edge({ workspace: 'w' })).toMatch(/everytick_history USING COVERING INDEX \S+_1 \(id<\?\)/)
    expect(edge({ workspace: 'w', states: ['failed'] })).toMatch(/INDEX everytick_history_unsuccessful \(id<\?\)/)
    expect(edge({ workspace: 'w', scheduleId: 's' })).toMatch(/COVERING INDEX everytick_history_schedule/)
    expect(edgeOf({}, page)).toBeNull()
  })
})
