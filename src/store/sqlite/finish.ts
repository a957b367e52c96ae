/** Moves a run from the hot table to history, inside the caller's transaction and only as it was last seen; why it ends is the caller's. */
import type { FinalState, LiveState } from '../../run/state.ts'
import type { Connection } from './connection.ts'

/** Columns that move to history as they are. */
const KEPT = `id, workspace, job, queue, trigger, priority, schedule_id, schedule_key, schedule_revision, scheduled_at,
  slot_start_at, due_at, lane, overlap, created_at, payload, policy, attempt, fence, worker_id, started_at, cancel_requested,
  idempotency_key`
// The fence keeps a worker that lost its lease from ending somebody else's attempt.
const ARCHIVE = `
  insert into everytick_history (${KEPT}, progress, error, state, finished_at, result)
  select ${KEPT}, coalesce(?, progress), iif(?, error, ?), ?, ?, ?
  from everytick_runs
  where id = ? and fence = ? and state = ? and coalesce(lease_until, 0) <= ?`
const FORGET = `delete from everytick_runs where id = ?`

/** Later than every lease. */
export const ANY_LEASE = Number.MAX_SAFE_INTEGER

/** The run as its ender knows it; if it is otherwise by now, nothing happens. */
export interface Seen {
  readonly id: string
  readonly fence: number
  readonly state: LiveState
  /** Its lease ended by this instant. */
  readonly leaseBy: number
}

export interface End {
  readonly state: FinalState
  readonly at: number
  /** JSON texts. A cancelled run keeps the error of its last attempt. */
  readonly error: string | null
  readonly result: string | null
  readonly progress: string | null
}

/** Answers whether the run was as it was seen, and has ended. */
export function finish(connection: Connection, seen: Seen, end: End): boolean {
  const keepsError = end.state === 'cancelled' ? 1 : 0
  const values = [end.progress, keepsError, end.error, end.state, end.at, end.result]
  if (connection.run(ARCHIVE, ...values, seen.id, seen.fence, seen.state, seen.leaseBy) === 0) return false
  connection.run(FORGET, seen.id)
  return true
}
