/**
 * Decides whether a claim passes over, at a glance, what a transaction in flight has touched. Mostly that one is a claim too,
 * and trying to lock what it holds is expensive. Where somebody holds an old snapshot, what was touched since looks the same, also
 * when it is long over: a concurrency group that opened, a claim that was cut off. So every few claims one looks closely.
 */

export interface SkipContended {
  /** Whether a claim of so many may pass over. */
  next(wanted: number): boolean
  /** Tells how many were claimed of those wanted. */
  claimed(granted: number, wanted: number): void
}

/** Whoever wants so many at once works them off within a fraction of a second, and is soon back. */
const MANY = 1000
const CLOSE_EVERY = 8

/** Where a claim came back short there may be little left, and all of it is looked at closely. */
export function createSkipContended(): SkipContended {
  /** Claims in a row that got all they wanted. */
  let full = 0
  return {
    next: (wanted) => wanted >= MANY && full % CLOSE_EVERY !== 0,
    claimed(granted, wanted) {
      full = granted === wanted ? full + 1 : 0
    },
  }
}
