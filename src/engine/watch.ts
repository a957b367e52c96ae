/** Watches work that takes time: it ends by itself, by its timeout, or some grace after it was told to stop; what that means is `outcome.ts`. */
import { EverytickError } from '../errors.ts'
import type { Ended } from '../run/settle.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { LeasedRun } from './leased-runs.ts'
import { unheeded } from './outcome.ts'

/** How long work that was told to stop may take before its slot is given to others. */
const STOP_GRACE_MS = { cancelled: 10_000, lease_lost: 10_000, stopping: 1000, timed_out: 0 }

/** What `await` would wait for, as a promise; null for anything else. */
export function promiseOf(value: unknown): Promise<unknown> | null {
  if (value instanceof Promise) return value
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return null
  return typeof (value as { then?: unknown }).then === 'function' ? Promise.resolve(value) : null
}

const none = (): void => {}

export interface WatchOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly end: (leased: LeasedRun, outcome: Ended) => void
  /** The work ended by itself after all. */
  readonly endLate: (leased: LeasedRun, outcome: Ended) => void
}

/** Calls `end` once, with whichever comes first, and `endLate` when that was not the work. The work never rejects. */
export function watch(leased: LeasedRun, work: Promise<Ended>, { clock, timers, end, endLate }: WatchOptions): void {
  let cancelTimer = none
  let over = false
  const endAs = (outcome: Ended): void => {
    if (over) return
    over = true
    cancelTimer()
    leased.onStop = null
    leased.endAs = null
    end(leased, outcome)
  }
  leased.endAs = endAs
  const { timeoutMs } = leased.run.policy
  if (timeoutMs !== undefined) {
    const leftMs = timeoutMs - (clock.elapsed() - leased.startedAt)
    // The error is made when it is needed: its stack costs more than all else here, and nearly every attempt ends in time.
    cancelTimer = timers.set(Math.max(0, leftMs), () => leased.stop('timed_out', tooLong(timeoutMs)))
  }
  leased.onStop = (_, reason) => {
    cancelTimer()
    cancelTimer = timers.set(STOP_GRACE_MS[reason], () => endAs(unheeded(reason)))
  }
  work.then((outcome) => {
    if (over) endLate(leased, outcome)
    // A handler that heeds its signal by returning has not done its work in time.
    else endAs(leased.stopped === 'timed_out' && outcome.kind === 'returned' ? unheeded('timed_out') : outcome)
  })
}

const tooLong = (timeoutMs: number): EverytickError =>
  new EverytickError('RUN_TIMEOUT', `the attempt took longer than ${timeoutMs} ms`)
