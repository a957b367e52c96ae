import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLAIM, EXPIRED, NEXT_DUE } from './claims.ts'
import { type Database, openDatabase } from './driver.ts'
import { pageOf } from './history.ts'
import { DUE, NEXT_CURSOR } from './planning.ts'
import { listOf } from './schedules.ts'
import { migrationSql } from './schema.ts'

let database: Database

/** How SQLite goes about a statement, one line for each table it touches. */
const planOf = (text: string): string[] =>
  (database.prepare(`explain query plan ${text}`).all() as { detail: string }[]).map(({ detail }) => detail)

/** Lines that read a table or an index of ours from one end to the other. */
const scans = (text: string): string[] =>
  planOf(text).filter((line) => /SCAN (?:\w+ USING|everytick_|[cs]\b)/.test(line))

beforeAll(async () => {
  database = await openDatabase(':memory:')
  database.exec(migrationSql())
})

afterAll(() => database.close())

/** Ten thousand of each, all due or all done, and statistics of that: what could most tempt a planner away. */
function fill(): void {
  database.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
    insert into everytick_cursors select 'c' || i, i, 0, 1 from n;
    insert into everytick_schedules select schedule_id, 'w', schedule_id, 1, '{}', 'j', 'q', '{}', 5, '{}', '{}', '', '[]',
      '{}', iif(next_at % 10, 'api', 'code'), 0, 0, null, null from everytick_cursors;
    insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy)
      select schedule_id, 'w', 'j', 'q', 'pending', 'enqueue', 5, next_at, 0, '{}', '{}' from everytick_cursors;
    update everytick_runs set state = 'running', worker_id = 'w1', lease_until = due_at where rowid % 2;
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
    expect(planOf(DUE)[0]).toMatch(/^SEARCH c USING .*INDEX everytick_cursors_due \(next_at<\?\)/)
    expect(planOf(DUE)[1]).toMatch(/^SEARCH s USING INDEX sqlite_autoindex_everytick_schedules_\d \(id=\?\)/)
    expect(planOf(DUE)).toHaveLength(2)
    expect(planOf(NEXT_CURSOR)).toEqual([expect.stringMatching(/^SEARCH .*INDEX everytick_cursors_due \(next_at>\?\)/)])
  })

  it('claim due runs by the index of pending runs, and never pass over those still to come', () => {
    expect(scans(CLAIM)).toEqual([])
    const inner = planOf(CLAIM).filter((line) => line.includes('everytick_runs_pending'))
    expect(inner).toEqual([expect.stringMatching(/\(queue=\? AND priority=\? AND due_at<\?\)/)])
    expect(planOf(CLAIM).join()).not.toContain('TEMP B-TREE FOR ORDER BY')
    expect(scans(NEXT_DUE)).toEqual([])
    expect(planOf(NEXT_DUE).join()).toContain('everytick_runs_pending (queue=? AND priority=? AND due_at>?)')
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
    const page = { limit: 10, after: { createdAt: 5, id: 'x' } }
    const plan = (filter: Parameters<typeof pageOf>[0]): string => planOf(pageOf(filter, page).text).join('\n')
    expect(plan({})).toMatch(/everytick_history USING COVERING INDEX everytick_history_created \(\(created_at,id\)</)
    expect(plan({ states: ['failed'] })).toMatch(/everytick_history USING INDEX everytick_history_unsuccessful/)
    expect(plan({ scheduleId: 's' })).toMatch(/INDEX everytick_history_schedule \(schedule_id=\? AND \(created_at,id\)/)
  })
})
