/** Chooses which occurrences of an outage, when no planner was running, still become runs; each other range becomes one record. */
import type { CatchUpPolicy } from '../schedule/schedule.ts'
import type { Slots } from '../schedule/slots.ts'
import type { NonRun } from './non-run.ts'

export interface CaughtUp {
  /** Occurrences at or before this become no run; later ones do, one by one. */
  readonly skipUntil: number
  /** Whether later ones are missed too, and are so many that counting them is for the next pass. */
  readonly goesOn: boolean
  readonly nonRuns: readonly NonRun[]
}

/**
 * `firstAt` is the first occurrence not yet accounted for, and `now` the instant up to which occurrences are late: those
 * within the grace are not. Everything at or before `skipUntil` is recorded as missed; what follows is planned as usual.
 */
export function catchUp(
  slots: Slots,
  policy: CatchUpPolicy,
  { firstAt, now }: { firstAt: number; now: number },
): CaughtUp {
  const nonRuns: NonRun[] = []
  let goesOn = false
  const miss = (fromAt: number, untilAt: number, reason: NonRun['reason']): number => {
    const reachAt = slots.countableUntil(fromAt - 1, untilAt)
    if (reachAt < untilAt) goesOn = true
    const toAt = slots.prevAt(reachAt + 1)
    if (toAt === null || toAt < fromAt) return fromAt
    const count = slots.countAt(fromAt - 1, toAt)
    nonRuns.push({ state: 'missed', reason, detail: '', fromAt, toAt, count, afterAt: slots.prevAt(fromAt) })
    return slots.nextAt(toAt) ?? Number.POSITIVE_INFINITY
  }
  let from = firstAt
  if (from < now - policy.windowMs) from = miss(from, now - policy.windowMs - 1, 'window')
  if (from <= now && !goesOn) {
    if (policy.catchUp === 'none') from = miss(from, now, 'policy')
    else if (policy.catchUp === 'latest') from = miss(from, latestBefore(slots, now) - 1, 'policy')
    else {
      const reachAt = slots.countableUntil(from - 1, now)
      const surplus = reachAt < now ? 0 : slots.countAt(from - 1, now) - policy.limit
      if (surplus > 0) from = miss(from, nthAfter(slots, from, { surplus, now }), 'limit')
      // Too many to be counted at once: what lies before as many as may be caught up with is missed, stretch by stretch.
      if (reachAt < now && slots.countAtLeast(reachAt, now) >= policy.limit) {
        from = miss(from, reachAt, 'limit')
        goesOn = true
      }
    }
  }
  return { skipUntil: from - 1, goesOn, nonRuns }
}

/** How far back one that may run is looked for among those that may not, in steps of looking. */
const MAX_STEPS = 10_000

/** The latest occurrence at or before `now` that may run; the latest of all when none is near. */
function latestBefore(slots: Slots, now: number): number {
  const latest = slots.prevAt(now + 1)
  let at = latest
  for (let steps = 0; at !== null && steps < MAX_STEPS; steps += slots.scanSteps) {
    if (slots.whyNot(at) === null) return at
    at = slots.prevAt(at)
  }
  return latest ?? Number.NEGATIVE_INFINITY
}

/** The `surplus`-th occurrence from `from` on, found by bisection over counts, not by walking. */
function nthAfter(slots: Slots, from: number, { surplus, now }: { surplus: number; now: number }): number {
  let [low, high] = [from, now]
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    if (slots.countAt(from - 1, middle) >= surplus) high = middle
    else low = middle + 1
  }
  return low
}
