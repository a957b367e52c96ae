/** Chooses which of the occurrences missed while nobody was planning still become runs; the rest are one range record each. */
import type { CatchUpPolicy } from '../schedule/schedule.ts'
import type { Timing } from '../schedule/timing.ts'
import type { NonRun } from './non-run.ts'

export interface CaughtUp {
  /** Occurrences at or before this become no run; later ones do, one by one. */
  readonly skipUntil: number
  readonly nonRuns: readonly NonRun[]
}

/**
 * `firstAt` is the first occurrence not yet accounted for, and `now` the instant up to which occurrences are late: those
 * within the grace are not. Everything at or before `skipUntil` is recorded as missed; what follows is planned as usual.
 */
export function catchUp(
  timing: Timing,
  policy: CatchUpPolicy,
  { firstAt, now }: { firstAt: number; now: number },
): CaughtUp {
  const nonRuns: NonRun[] = []
  const miss = (fromAt: number, untilAt: number, reason: NonRun['reason']): number => {
    const toAt = timing.prevAt(untilAt + 1)
    if (toAt === null || toAt < fromAt) return fromAt
    nonRuns.push({ state: 'missed', reason, fromAt, toAt, count: timing.countAt(fromAt - 1, toAt) })
    return timing.nextAt(toAt) ?? Number.POSITIVE_INFINITY
  }
  let from = firstAt
  if (from < now - policy.windowMs) from = miss(from, now - policy.windowMs - 1, 'window')
  if (from <= now) {
    if (policy.catchUp === 'none') from = miss(from, now, 'policy')
    else if (policy.catchUp === 'latest') from = miss(from, latestBefore(timing, now) - 1, 'policy')
    else {
      const surplus = timing.countAt(from - 1, now) - policy.limit
      if (surplus > 0) from = miss(from, nthAfter(timing, from, { surplus, now }), 'limit')
    }
  }
  return { skipUntil: from - 1, nonRuns }
}

/** The latest occurrence at or before `now`. */
const latestBefore = (timing: Timing, now: number): number => timing.prevAt(now + 1) ?? Number.NEGATIVE_INFINITY

/** The `surplus`-th occurrence from `from` on, found by bisection over counts, not by walking. */
function nthAfter(timing: Timing, from: number, { surplus, now }: { surplus: number; now: number }): number {
  let [low, high] = [from, now]
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    if (timing.countAt(from - 1, middle) >= surplus) high = middle
    else low = middle + 1
  }
  return low
}
