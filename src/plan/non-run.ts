/** Occurrences that never become runs, folded into ranges; which ones they are is decided by catch-up, pauses and plans. */
import type { Timing } from '../schedule/timing.ts'

export interface NonRun {
  readonly state: 'missed' | 'skipped'
  readonly reason: 'window' | 'limit' | 'policy' | 'paused'
  readonly fromAt: number
  readonly toAt: number
  readonly count: number
}

/** The occurrences in (afterAt, untilAt] that a pause kept from running: one range, or none. */
export function pausedRange(timing: Timing, afterAt: number, untilAt: number): NonRun[] {
  const fromAt = timing.nextAt(afterAt)
  const toAt = timing.prevAt(untilAt + 1)
  if (fromAt === null || toAt === null || fromAt > toAt) return []
  return [{ state: 'skipped', reason: 'paused', fromAt, toAt, count: timing.countAt(afterAt, toAt) }]
}
