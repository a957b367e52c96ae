/** Chooses which of the occurrences missed while nobody was planning still become runs; the rest are one range record each. */
import type { CatchUpPolicy } from '../schedule/schedule.ts'
import type { Slots } from '../schedule/slots.ts'
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
  slots: Slots,
  policy: CatchUpPolicy,
  { firstAt, now }: { firstAt: number; now: number },
): CaughtUp {
  const nonRuns: NonRun[] = []
  const miss = (fromAt: number, untilAt: number, reason: NonRun['reason']): number => {
    const toAt = slots.prevAt(untilAt + 1)
    if (toAt === null || toAt < fromAt) return fromAt
    const count = slots.countAt(fromAt - 1, toAt)
    nonRuns.push({ state: 'missed', reason, detail: '', fromAt, toAt, count, afterAt: slots.prevAt(fromAt) })
    return slots.nextAt(toAt) ?? Number.POSITIVE_INFINITY
  }
  let from = firstAt
  if (from < now - policy.windowMs) from = miss(from, now - policy.windowMs - 1, 'window')
  if (from <= now) {
    if (policy.catchUp === 'none') from = miss(from, now, 'policy')
    else if (policy.catchUp === 'latest') from = miss(from, latestBefore(slots, now) - 1, 'policy')
    else {
      const surplus = slots.countAt(from - 1, now) - policy.limit
      if (surplus > 0) from = miss(from, nthAfter(slots, from, { surplus, now }), 'limit')
    }
  }
  return { skipUntil: from - 1, nonRuns }
}

/** How far back one that may run is looked for among those that may not. */
const MAX_LOOKS = 10_000

/** The latest occurrence at or before `now` that may run; the latest of all when none is near. */
function latestBefore(slots: Slots, now: number): number {
  const latest = slots.prevAt(now + 1)
  let at = latest
  for (let looks = 0; at !== null && looks < MAX_LOOKS; looks++) {
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
