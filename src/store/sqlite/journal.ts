/** Writes journal entries, inside the transaction of what they tell of; reading them is `history.ts`. */
import { MAX_JSON_BYTES, toJsonText } from '../../json.ts'
import type { JournalEntry } from '../contract/history.ts'
import type { Connection } from './connection.ts'

const WRITE = `insert into everytick_journal (at, kind, run_id, schedule_id, data) values (?, ?, ?, ?, ?)`
const SCHEDULE_OF = `
  select schedule_id from everytick_runs where id = ?
  union all select schedule_id from everytick_history where id = ?`

/** An entry about a run also names the schedule that the run is of. */
export function journal(connection: Connection, entry: Omit<JournalEntry, 'scheduleId'> & { scheduleId?: string }) {
  const { at, kind, runId, data } = entry
  const found = runId === null ? [] : connection.all<{ schedule_id: string | null }>(SCHEDULE_OF, runId, runId)
  const scheduleId = entry.scheduleId ?? found[0]?.schedule_id ?? null
  // A refused verdict carries a whole result, and some more words beside it.
  connection.run(
    WRITE,
    at,
    kind,
    runId,
    scheduleId,
    toJsonText(data, { what: 'journal', maxBytes: 2 * MAX_JSON_BYTES }),
  )
}
