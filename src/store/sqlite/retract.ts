/** Takes back what was planned ahead for a schedule and has not begun; where the cursor goes then is the caller's choice. */
import { ask, type Steps } from './steps.ts'

// A run that was granted once keeps its row, and so its fence, even when the clock was set back since.
const RETRACT = `
  delete from everytick_runs
  where schedule_id = ? and scheduled_at > ? and state = 'pending' and fence = 0
  returning scheduled_at`

/** Answers the first instant taken back; null when there was none. */
export function* retract(scheduleId: string, now: number): Steps<number | null> {
  const gone = yield* ask<{ scheduled_at: number }>(RETRACT, scheduleId, now)
  const firstAt = gone.reduce((first, row) => Math.min(first, row.scheduled_at), Number.POSITIVE_INFINITY)
  return gone.length === 0 ? null : firstAt
}
