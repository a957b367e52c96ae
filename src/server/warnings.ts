/** Warnings about a schedule before it fires: clock changes, both day fields set, no timeout. */
import { DAY_MS } from '../schedule/calendar.ts'
import { type ScheduleDefinition, seedOf, type TimingSpec, timingOf } from '../schedule/schedule.ts'

export interface WarningBody {
  readonly code: string
  readonly at: Date | null
  readonly text: string
}

const LOUD_PER_DAY = 86_400 / 10
/** The most occurrences of several rules to enumerate during a request. */
const MAX_WALKED = 3000

/**
 * How often a timing fires after `fromAt` and until `toAt`. Occurrences of several rules at the same instant count once, and finding
 * them requires enumeration. If there are too many, the overlap in a part of the period is extrapolated.
 */
export function firesIn(spec: TimingSpec, seed: string, { fromAt, toAt }: { fromAt: number; toAt: number }): number {
  const timing = timingOf(spec, seed)
  if (spec.kind !== 'any') return timing.countAt(fromAt, toAt)
  const rules = spec.of.map((rule) => timingOf(rule, seed))
  const counts = (endAt: number): number[] => rules.map((rule) => rule.countAt(fromAt, endAt))
  const sum = (each: readonly number[]): number => each.reduce((all, count) => all + count, 0)
  const all = counts(toAt)
  let endAt = toAt
  while (sum(counts(endAt)) > MAX_WALKED) endAt = fromAt + Math.floor((endAt - fromAt) / 2)
  if (endAt === toAt) return timing.countAt(fromAt, toAt)
  const apart = timing.countAt(fromAt, endAt) / Math.max(1, sum(counts(endAt)))
  return Math.max(...all, Math.round(sum(all) * apart))
}

export function warningsOf(
  schedule: Pick<ScheduleDefinition, 'workspace' | 'key' | 'timing' | 'policy'>,
  now: number,
): WarningBody[] {
  const timing = timingOf(schedule.timing, seedOf(schedule))
  const found: WarningBody[] = timing
    .warnings(new Date(now))
    .filter(({ code }) => code !== 'FIRES_PER_YEAR' && code !== 'HASH_UNSEEDED')
    .map(({ code, at, text }) => ({ code, at: at ?? null, text }))
  const perDay = firesIn(schedule.timing, seedOf(schedule), { fromAt: now, toAt: now + DAY_MS })
  if (perDay >= LOUD_PER_DAY) found.push({ code: 'FREQUENT', at: null, text: `fires ${perDay} times a day` })
  if (schedule.policy.timeoutMs === undefined)
    found.push({
      code: 'NO_TIMEOUT',
      at: null,
      text: 'attempts have no timeout, so an attempt that hangs never ends; set one, such as 1h',
    })
  return found
}
