/** Finds the schedules that the next clock changes affect, and how, with the DST rules of the time engine. */
import { touchedChanges } from '../schedule/clock-change.ts'
import { Cron } from '../schedule/cron.ts'
import { readCron } from '../schedule/cron-expression.ts'
import { seedOf, type TimingSpec, timingOf } from '../schedule/schedule.ts'
import { segmentAt, type TimeZone, timeZone } from '../schedule/time-zone.ts'
import { wallPattern } from '../schedule/wall-pattern.ts'
import type { Steps } from '../time/steps.ts'
import { type PlainRule, partsOf, readable, rulesOf, type TimingClass } from './timing-class.ts'

/**
 * `skipped`: its wall time does not exist, and it does not run. `shifted`: its wall time does not exist, and it runs after the
 * clock jumps. `repeated`: its wall time exists twice, and it runs twice. `moved_in_utc`: only its UTC offset changes.
 */
export type ClockEffect = 'skipped' | 'shifted' | 'repeated' | 'moved_in_utc'

export interface ClockChange {
  readonly at: number
  readonly zone: string
  readonly effect: ClockEffect
  /** The number of affected schedules. */
  readonly schedules: number
  readonly samples: readonly TimingClass['sample'][]
}

const HOUR_MS = 3_600_000
const MAX_SAMPLES = 5
/** If several rules of a schedule are affected, the greatest effect counts. */
const WEIGHT: Readonly<Record<ClockEffect, number>> = { skipped: 4, repeated: 3, shifted: 2, moved_in_utc: 1 }

interface Span {
  readonly fromAt: number
  readonly toAt: number
}

/** Yields in small steps; changes in (fromAt, toAt], in order. */
export function* findingClockChanges(classes: readonly TimingClass[], span: Span): Steps<ClockChange[]> {
  const found = new Map<string, ClockChange>()
  let seen = 0
  for (const each of classes) {
    if (++seen % 100 === 0) yield
    for (const { at, zone, effect, schedules } of readable(() => effectsOn(each, span)) ?? []) {
      const name = `${at} ${zone} ${effect}`
      const known = found.get(name) ?? { at, zone, effect, schedules: 0, samples: [] }
      const samples = known.samples.length < MAX_SAMPLES ? [...known.samples, each.sample] : known.samples
      found.set(name, { ...known, schedules: known.schedules + schedules, samples })
    }
  }
  return [...found.values()]
    .map((change) => ({ ...change, schedules: Math.round(change.schedules) }))
    .filter(({ schedules }) => schedules > 0)
    .sort((a, b) => a.at - b.at || WEIGHT[b.effect] - WEIGHT[a.effect] || (a.zone < b.zone ? -1 : 1))
}

type Effect = Omit<ClockChange, 'samples'>

function effectsOn(each: TimingClass, span: Span): Effect[] {
  const strongest = new Map<string, Effect[]>()
  const bounds = within(each.timing, span)
  const spread = partsOf(each).flatMap(({ timing, schedules }) => rulesOf(timing).map((rule) => ({ rule, schedules })))
  for (const [i, own] of rulesOf(each.timing).entries()) {
    const { rule, schedules } = spread[i]!
    if (own.kind !== 'cron' || rule.kind !== 'cron') continue
    const whole = { own, schedules, count: each.count, seed: seedOf(each.sample) }
    for (const effects of effectsOf(rule, bounds, whole)) {
      const name = `${effects[0]!.at} ${effects[0]!.zone}`
      const known = strongest.get(name)
      if (!known || WEIGHT[effects[0]!.effect] > WEIGHT[known[0]!.effect]) strongest.set(name, effects)
    }
  }
  return [...strongest.values()].flat()
}

const within = ({ startAt, endAt }: TimingSpec, { fromAt, toAt }: Span): Span => ({
  fromAt: Math.max(fromAt, startAt ?? fromAt),
  toAt: Math.min(toAt, endAt ?? toAt),
})

type CronRule = Extract<PlainRule, { kind: 'cron' }>

interface Whole {
  /** The original rule; the evaluated one has every `H` widened to its range. */
  readonly own: CronRule
  /** The number of schedules per occurrence, and in total. */
  readonly schedules: number
  readonly count: number
  readonly seed: string
}

/** One list per change: first schedules whose wall times it affects, then the others. */
function effectsOf(rule: CronRule, span: Span, whole: Whole): Effect[][] {
  const zone = timeZone(rule.timezone)
  const changes = changesOf(zone, span)
  if (changes.length === 0) return []
  const tree = readCron(rule.cron, whole.seed)
  const cron = timingOf(whole.own, whole.seed)
  if (tree.kind !== 'fields' || !(cron instanceof Cron)) return []
  const { gap, fold } = cron
  const touched = new Map(
    touchedChanges({ pattern: wallPattern(tree.fields), zone, gap, fold }, span.fromAt, span.toAt).map((each) => [
      each.at,
      each,
    ]),
  )
  return changes.flatMap(({ at, byMs }) => {
    // Every hour of wall time is every hour in UTC.
    const hourly = cron.fields.hour.values.length === 24 && byMs % HOUR_MS === 0
    if (hourly && gap === 'skip' && fold === 'both') return []
    const change = touched.get(at)
    const gapOrFold = change?.kind === 'gap' ? (gap === 'skip' ? 'skipped' : 'shifted') : 'repeated'
    const strong = change && (change.kind === 'gap' || fold === 'both') ? gapOrFold : null
    const struck = strong && change ? Math.min(whole.count, change.listed * whole.schedules) : 0
    const effects: Effect[] = []
    if (strong) effects.push({ at, zone: rule.timezone, effect: strong, schedules: struck })
    const rest = whole.count - struck
    if (rest > 0 && !hourly) effects.push({ at, zone: rule.timezone, effect: 'moved_in_utc', schedules: rest })
    return effects.length > 0 ? [effects] : []
  })
}

function changesOf(zone: TimeZone, { fromAt, toAt }: Span): { at: number; byMs: number }[] {
  const changes: { at: number; byMs: number }[] = []
  for (let k = segmentAt(zone, fromAt) + 1; k < zone.offset.length && zone.at[k]! <= toAt; k++) {
    const byMs = zone.offset[k]! - zone.offset[k - 1]!
    if (byMs !== 0) changes.push({ at: zone.at[k]!, byMs })
  }
  return changes
}
