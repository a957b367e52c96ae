/** Moves runs from the hot table to history, inside the caller's transaction and only as they were last seen; why they end is the caller's. */
import type { FinalState, LiveState } from '../../run/state.ts'
import { pairsText, stretchesOf } from './batch.ts'
import type { Connection } from './connection.ts'

/** Columns that move to history as they are. */
const KEPT = `workspace, job, queue, trigger, priority, schedule_id, schedule_key, schedule_revision, scheduled_at,
  slot_start_at, due_at, concurrency_group, overlap, created_at, payload, policy, attempt, fence, worker_id, started_at, cancel_requested,
  idempotency_key`
// Fence and claim keep a worker that lost its lease from ending somebody else's attempt.
export const SEEN = `
  select json_group_array((
    select r.rowid from everytick_runs r
    where r.id = j.key and r.fence = j.value ->> 0 and r.claim_id is (j.value ->> 1) and r.state = ? and coalesce(r.lease_until, 0) <= ?)) as "rows"
  from json_each(?) j`
// A cancelled run keeps the error of its last attempt.
export const ARCHIVE = `
  insert into everytick_history (id, ${KEPT}, progress, error, state, finished_at, result)
  select r.id, ${KEPT}, coalesce(?, progress), case ? when 'failed' then j.value when 'cancelled' then error end, ?, ?,
    iif(? <> 'failed', j.value, null)
  from json_each(?) j cross join everytick_runs r on r.rowid = cast(j.key as integer)`
export const FORGET = `delete from everytick_runs where rowid in (select value from json_each(?))`

/** Later than every lease. */
export const ANY_LEASE = Number.MAX_SAFE_INTEGER

/** One run as its ender knows it; if it is otherwise by now, nothing happens to it. */
export interface Ending {
  readonly id: string
  readonly fence: number
  readonly claimId: string | null
  /** JSON text: the error of one that failed, the result of any other. */
  readonly words: string | null
}

/** What all of them have in common. */
export interface End {
  readonly from: LiveState
  /** Their leases ended by this instant. */
  readonly leaseBy: number
  readonly state: FinalState
  readonly at: number
  /** JSON text. */
  readonly progress: string | null
}

/** Answers, for each, whether it was as it was seen and has ended. None may be named twice. */
export function finish(connection: Connection, endings: readonly Ending[], end: End): boolean[] {
  const answers: boolean[] = []
  for (const stretch of stretchesOf(endings, { lengthOf: ({ words }) => words?.length ?? 0 })) {
    const seen = pairsText(stretch.map(({ id, fence, claimId }) => [id, [fence, claimId]]))
    const [found] = connection.all<{ rows: string }>(SEEN, end.from, end.leaseBy, seen)
    const rows = JSON.parse(found?.rows ?? '[]') as (number | null)[]
    const ended = rows.flatMap((row, i) => (row === null ? [] : [[row, stretch[i]?.words ?? null] as const]))
    if (ended.length > 0) {
      connection.run(ARCHIVE, end.progress, end.state, end.state, end.at, end.state, pairsText(ended))
      connection.run(FORGET, JSON.stringify(ended.map(([row]) => row)))
    }
    for (const row of rows) answers.push(row !== null)
  }
  return answers
}
