/** Deletes one finished run, inside the caller's transaction; what is left of it answers for its occurrence. */
import type { RemoveAnswer } from '../contract/runs.ts'
import type { Connection } from './connection.ts'
import { textOf } from './rows.ts'

const OF_SLOT = `id, schedule_id, schedule_revision, scheduled_at, due_at, state, trigger, queue, attempt, worker_id, started_at,
  finished_at`
const KEEP = `
  insert into everytick_deleted_runs (${OF_SLOT}, deleted_at, deleted_by)
  select ${OF_SLOT}, ?, ? from everytick_history where id = ? and schedule_id is not null and scheduled_at is not null
  on conflict (id) do nothing`
const FORGET = `delete from everytick_history where id = ?`
const FORGET_JOURNAL = `delete from everytick_journal where run_id = ?`
const FORGET_LOG = `delete from everytick_logs where run_id = ?`
const LIVE = `select 1 from everytick_runs where id = ?`

export function removeRun(connection: Connection, id: string, { at, by }: { at: number; by: string }): RemoveAnswer {
  connection.run(KEEP, at, textOf(by, 'by'), id)
  if (connection.run(FORGET, id) === 0) return connection.all(LIVE, id).length > 0 ? 'live' : 'not_found'
  connection.run(FORGET_JOURNAL, id)
  connection.run(FORGET_LOG, id)
  return 'removed'
}
