/** Holds the plans for documents, the audit log and lines of runs: each question has its index, and none is sorted. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentPage } from '../contract/documents.ts'
import { auditPageOf, NEWEST, WALK } from './audit-log.ts'
import { documentsOf, GET, STATES } from './documents.ts'
import { type Database, openDatabase } from './driver.ts'
import { READ_LINES } from './logs.ts'
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
  insert into everytick_documents
  select iif(i % 2, 'alert', 'request'), printf('%08d', i), iif(i % 1000, 'large', 'small'), iif(i % 500, 'done', 'open'), '{}', 1, 0, 0, null
  from n;
  insert into everytick_audit_log select rowid, 0, workspace, 'ana', 'a', 't', '1', '2', '3', '', '' from everytick_documents;
  insert into everytick_logs (stored_at, run_id, attempt, at, level, message)
  select 0, rowid % 100, 1, 0, 'info', 'm' from everytick_documents;
  analyze;`

describe.each(['when empty', 'when full and analysed'])('the plans of SQLite %s', (state) => {
  beforeAll(() => {
    if (state !== 'when empty') database.exec(FILL)
  })

  it.each<[Partial<DocumentPage>, RegExp]>([
    [{}, /autoindex_everytick_documents_\d \(kind=\?\)/],
    [{ after: 'x' }, /autoindex_everytick_documents_\d \(kind=\? AND id<\?\)/],
    [{ workspace: 'w', after: 'x' }, /everytick_documents_workspace \(kind=\? AND workspace=\? AND id<\?\)/],
    [{ state: 's', after: 'x' }, /everytick_documents_state \(kind=\? AND state=\? AND id<\?\)/],
    [{ workspace: 'w', state: 's' }, /everytick_documents_(?:state|workspace) \(kind=\? AND \w+=\?\)/],
  ])('list documents by an index: %j', (page, index) => {
    const plan = planOf(documentsOf('alert', { limit: 10, ...page }, 0).text)
    expect(plan).toMatch(index)
    expect(plan).not.toContain('TEMP B-TREE')
  })

  it('go from state to state of a kind by their index', () => {
    expect(planOf(STATES)).toMatch(/everytick_documents_state \(kind=\? AND state>\?\)/)
    expect(planOf(STATES)).not.toMatch(/SCAN (?:d|everytick_documents)\b/)
  })

  it('find a document by its key', () => {
    expect(planOf(GET)).toMatch(/autoindex_everytick_documents_\d \(kind=\? AND id=\?\)/)
  })

  it('page through the audit log by an index', () => {
    expect(planOf(auditPageOf({ limit: 10, before: 5 }).text)).toMatch(/INTEGER PRIMARY KEY \(rowid<\?\)/)
    const ofOne = planOf(auditPageOf({ limit: 10, before: 5, workspace: 'w' }).text)
    expect(ofOne).toMatch(/everytick_audit_log_workspace \(workspace=\? AND (?:seq|rowid)<\?\)/)
    expect(planOf(WALK)).toMatch(/INTEGER PRIMARY KEY \(rowid>\?\)/)
    for (const plan of [ofOne, planOf(NEWEST), planOf(WALK)]) expect(plan).not.toContain('TEMP B-TREE')
  })

  it('read the lines of one run by their own index', () => {
    expect(planOf(READ_LINES)).toMatch(/everytick_logs_run \(run_id=\? AND (?:seq|rowid)>\?\)/)
    expect(planOf(READ_LINES)).not.toContain('TEMP B-TREE')
  })
})
