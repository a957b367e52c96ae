/** Holds the plans for what quotas count: each question has its index, and reads no row of another workspace. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openDatabase } from './driver.ts'
import { COUNTS, NAMES, PROMISED } from './quotas.ts'
import { migrationSql } from './schema.ts'

let database: Database

beforeAll(async () => {
  database = await openDatabase(':memory:')
  database.exec(migrationSql())
})

afterAll(() => database.close())

const planOf = (text: string): string => {
  const lines = database.prepare(`explain query plan ${text}`).all() as { detail: string }[]
  return lines.map(({ detail }) => detail).join('\n')
}

const FILL = `
  with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy)
  select printf('%08d', i), iif(i % 1000, 'large', 'small'), 'j', 'q' || (i % 10), 'pending', 'enqueue', 5, 0, 0, '', '' from n;
  insert into everytick_schedules
    (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up, description, tags, metadata, source,
      created_at, updated_at, firing, created_by, updated_by, since_at)
  select id, workspace, id, 1, '', 'j', queue, '', 5, '', '', '', '[]', '', 'api', 0, 0, '{}', 'api', 'api', 0 from everytick_runs;
  insert into everytick_tags select queue, workspace, id from everytick_runs;
  insert into everytick_documents
  select iif(rowid % 2, 'channel', 'alert_rule'), id, workspace, '', '{}', 1, 0, 0, null from everytick_runs;
  analyze;`

describe.each(['when empty', 'when full and analysed'])('the plans of SQLite %s', (state) => {
  beforeAll(() => {
    if (state !== 'when empty') database.exec(FILL)
  })

  it.each([
    ['schedules', COUNTS.schedules, /COVERING INDEX \w+ \(workspace=\?\)/],
    ['pending runs', COUNTS.pendingRuns, /COVERING INDEX everytick_runs_workspace \(workspace=\?\)/],
    ['places of backfills', PROMISED, /INDEX everytick_backfills_workspace \(workspace=\?\)/],
    ['channels', COUNTS.channels, /COVERING INDEX everytick_documents_workspace \(kind=\? AND workspace=\?\)/],
    ['rules', COUNTS.rules, /COVERING INDEX everytick_documents_workspace \(kind=\? AND workspace=\?\)/],
  ])('count %s by an index', (_, text, index) => {
    const plan = planOf(text)
    expect(plan).toMatch(index)
    expect(plan).not.toMatch(/SCAN everytick/)
  })

  it.each([
    ['queues of schedules', NAMES.queues[0]!, 'everytick_schedules_queue', 'queue'],
    ['queues of runs', NAMES.queues[1]!, 'everytick_runs_workspace', 'queue'],
    ['tags', NAMES.tags[0]!, 'everytick_tags_workspace', 'tag'],
  ])('walk from name to name: %s', (_, text, index, column) => {
    const plan = planOf(text)
    expect(plan).toContain(`COVERING INDEX ${index} (workspace=?)`)
    expect(plan).toContain(`COVERING INDEX ${index} (workspace=? AND ${column}>?)`)
    expect(plan).not.toMatch(/SCAN everytick|TEMP B-TREE/)
  })
})
