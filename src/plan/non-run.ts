/** Non-runs: occurrences that do not become runs, as ranges; catch-up, pauses, overlap and plans decide which. */
import type { Slots } from '../schedule/slots.ts'

export type NonRunReason =
  | 'window'
  | 'limit'
  | 'policy'
  | 'paused'
  | 'overlap'
  | 'excluded'
  | 'before_start'
  | 'dst_gap'
  | 'max_runs'
  /** Its timing was changed between the nominal instant and the start that jitter had put off. */
  | 'edited'

export interface NonRun {
  readonly state: 'missed' | 'skipped'
  readonly reason: NonRunReason
  /** What a person wants to know besides: which exclusion, who paused, which run was in the way; may be empty. */
  readonly detail: string
  readonly fromAt: number
  readonly toAt: number
  readonly count: number
  /** The occurrence before `fromAt`: a record that ends there and says the same grows, instead of a new one being made. */
  readonly afterAt: number | null
}

/**
 * The occurrences in (afterAt, untilAt] that a pause kept from running: one range, or none. Where there are too many to be
 * counted at once, `untilAt` is what `countableUntil` says, and the rest is for the next step.
 */
export function pausedRange(slots: Slots, { afterAt, untilAt, detail }: PausedSpan): NonRun[] {
  const fromAt = slots.nextAt(afterAt)
  const toAt = slots.prevAt(untilAt + 1)
  if (fromAt === null || toAt === null || fromAt > toAt) return []
  const count = slots.countAt(afterAt, toAt)
  return [{ state: 'skipped', reason: 'paused', detail, fromAt, toAt, count, afterAt: slots.prevAt(fromAt) }]
}

export interface PausedSpan {
  readonly afterAt: number
  readonly untilAt: number
  readonly detail: string
}

/** The actor and the reason of a pause, in one line. */
export const pauseDetail = ({ by, reason }: { readonly by: string; readonly reason: string }): string =>
  reason === '' ? `by ${by}` : `by ${by}: ${reason}`
