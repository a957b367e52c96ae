/** Takes back what was planned ahead for a schedule and has not begun; where the cursor goes then is the caller's choice. */
import type { Slot } from './non-runs.ts'
import { ask, type Steps } from './steps.ts'

// A run that was claimed once keeps its row, and so its fence, even when the clock was set back since. A backfill makes
// good what is past, and goes on.
export const RETRACT = `
  delete from everytick_runs
  where schedule_id = ? and scheduled_at is not null and trigger <> 'backfill'
    and due_at > ? and state = 'pending' and fence = 0
  returning scheduled_at, slot_start_at`

export interface Retracted {
  /** In nominal order. */
  readonly slots: readonly Slot[]
  /** Null when nothing was taken back. */
  readonly firstAt: number | null
  /** Up to where occurrences are accounted for now. */
  readonly watermarkAt: number
}

export function* retract(scheduleId: string, now: number, watermarkAt: number): Steps<Retracted> {
  const gone = yield* ask<Slot>(RETRACT, scheduleId, now)
  const slots = gone.map((slot) => ({ ...slot })).sort((a, b) => a.scheduled_at - b.scheduled_at)
  const firstAt = slots[0]?.scheduled_at ?? null
  const beforeFirst = firstAt === null ? Number.POSITIVE_INFINITY : firstAt - 1
  return { slots, firstAt, watermarkAt: Math.min(watermarkAt, now, beforeFirst) }
}
