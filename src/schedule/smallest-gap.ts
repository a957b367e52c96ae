/** Decides how close together the occurrences of a timing come at the least, with bounded work; how close they may come is a quota. */
import { Any } from './any.ts'
import { Cron } from './cron.ts'
import { Interval } from './interval.ts'
import { type TimingSpec, timingOf } from './schedule.ts'
import type { Timing } from './timing.ts'

const SECOND_MS = 1000
const DAY_MS = 86_400_000
/** Occurrences of several rules together that are compared with each other. */
const COMPARED = 100

/**
 * In milliseconds; infinite for what fires once. A rule is measured by itself, on a day on which it fires, whatever its bounds and
 * exclusions leave of it. Of several rules together the next 100 occurrences are compared besides.
 */
export function smallestGapMs(
  spec: TimingSpec,
  { seed, fromAt }: { readonly seed: string; readonly fromAt: number },
): number {
  const rules = spec.kind === 'any' ? spec.of : [spec]
  const timings = rules.map((rule) => timingOf(rule, seed))
  const alone = Math.min(...timings.map(gapOf))
  return timings.length === 1
    ? alone
    : Math.min(alone, gapTogether(new Any(timings), Math.max(fromAt, spec.startAt ?? fromAt)))
}

function gapOf(timing: Timing): number {
  if (timing instanceof Interval) return timing.intervalMs
  return timing instanceof Cron ? gapOfCron(timing) : Number.POSITIVE_INFINITY
}

/** By the wall clock: within a minute, from minute to minute, from hour to hour, or from one day to the next. */
function gapOfCron({ fields }: Cron): number {
  const [seconds, minutes, hours] = [fields.second, fields.minute, fields.hour].map(({ values }) => values)
  const withinMinute = spread(seconds!)
  const withinHour = spread(minutes!) * 60 + withinMinute
  const withinDay = spread(hours!) * 3600 + withinHour
  const gaps = [
    nearest(seconds!),
    nearest(minutes!) * 60 - withinMinute,
    nearest(hours!) * 3600 - withinHour,
    DAY_MS / SECOND_MS - withinDay,
  ]
  return Math.min(...gaps) * SECOND_MS
}

const spread = (values: readonly number[]): number => values.at(-1)! - values[0]!

/** Between two neighbours; infinite for a single value. */
const nearest = (values: readonly number[]): number =>
  Math.min(Number.POSITIVE_INFINITY, ...values.slice(1).map((value, i) => value - values[i]!))

function gapTogether(timing: Timing, fromAt: number): number {
  let smallest = Number.POSITIVE_INFINITY
  let before = timing.nextAt(fromAt)
  for (let compared = 1; before !== null && compared < COMPARED; compared++) {
    const at = timing.nextAt(before)
    if (at === null) break
    smallest = Math.min(smallest, at - before)
    before = at
  }
  return smallest
}
