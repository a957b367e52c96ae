/** Reads when a schedule fires: its rules and bounds; rejects a timing that can never run. `read-firing.ts` reads how it fires. */
import { EverytickError } from '../errors.ts'
import {
  checkKeys,
  type Duration,
  type Instant,
  named,
  readDuration,
  readInstantOption,
  readList,
  refused,
} from '../options.ts'
import type { Fold, Gap } from '../schedule/clock-change.ts'
import { parseCron } from '../schedule/cron.ts'
import { type Interning, interning } from '../schedule/interning.ts'
import { every as interval } from '../schedule/interval.ts'
import { NEVER_MS, refuseNever } from '../schedule/never.ts'
import type { TimingRule, TimingSpec } from '../schedule/schedule.ts'
import { findingRuns, nextRunAt } from '../schedule/search.ts'
import { SMALL_SEARCH, searchBudget } from '../schedule/search-budget.ts'
import { slotsOf } from '../schedule/slots.ts'
import { systemClock } from '../time/clock.ts'
import { formatDuration } from '../time/duration.ts'
import { allSteps } from '../time/steps.ts'
import { type ExcludeOption, readExclusions } from './read-exclusions.ts'

interface CronRule {
  readonly cron: string
  /** An IANA name; UTC when absent. */
  readonly timezone?: string
  readonly dst?: { readonly gap?: Gap; readonly fold?: Fold }
}

/** One of several timings in one schedule. */
export type AnyRule =
  | (CronRule & { readonly every?: undefined; readonly at?: undefined })
  | { readonly every: Duration; readonly cron?: undefined; readonly at?: undefined }
  | { readonly at: Instant; readonly cron?: undefined; readonly every?: undefined }

/** Exactly one of `cron`, `every`, `at` and `any`. */
export type When =
  | (AnyRule & { readonly any?: undefined })
  /** 1 to 10 rules; the schedule has the occurrences of all of them. */
  | {
      readonly any: readonly AnyRule[]
      readonly cron?: undefined
      readonly every?: undefined
      readonly at?: undefined
    }

export interface Bounds {
  /** The schedule skips occurrences before this. */
  readonly startAt?: Instant
  /** The schedule has no occurrences after this. */
  readonly endAt?: Instant
  /**
   * Times at which the schedule does not run: dates such as `2026-12-25`, date ranges such as `2026-12-24/2027-01-02` (both
   * included), cron expressions, spans between two instants. At most 100.
   */
  readonly exclude?: readonly ExcludeOption[]
}

export const TIMING_KEYS = ['cron', 'every', 'at', 'any', 'timezone', 'dst', 'startAt', 'endAt', 'exclude']
const RULE_KEYS = ['cron', 'every', 'at', 'timezone', 'dst']
const MAX_RULES = 10

/** The input before validation, which untyped callers can fill with anything. */
type Given = { readonly [Key in 'cron' | 'every' | 'at' | 'any' | 'timezone' | 'dst']?: unknown }

/** `of` names the schedule in errors; `seed` spreads `H`. */
export function readTiming(options: When & Bounds, of: string, seed: string): TimingSpec {
  const rule = (options as Given).any === undefined ? readRule(options, of, seed) : readAny(options, of, seed)
  const { startAt, endAt, exclude } = options
  if (startAt === undefined && endAt === undefined && exclude === undefined) return Object.freeze(rule)
  const bounds = {
    ...(startAt === undefined ? {} : { startAt: readInstantOption(startAt, `${of}: startAt`) }),
    ...(endAt === undefined ? {} : { endAt: readInstantOption(endAt, `${of}: endAt`) }),
    ...(exclude === undefined ? {} : readExclusions(exclude, `${of}: exclude`, zoneOf(rule))),
  }
  if (bounds.startAt !== undefined && bounds.endAt !== undefined && bounds.endAt < bounds.startAt) {
    throw refused(`${of}: endAt is before startAt`, 'swap them, or leave one out')
  }
  const spec = { ...rule, ...bounds }
  refuseEmpty(spec, of, seed)
  return Object.freeze(spec)
}

function readAny(options: Given, of: string, seed: string): TimingRule {
  const { any, ...rest } = options
  countRules({ ...rest, any }, of, ['cron', 'every', 'at', 'any'])
  refuseZone(rest, of, 'set them on each cron expression in any')
  const rules = readList(any, `${of}: any`, [1, MAX_RULES]).map((each, i) => {
    const where = `${of}: any[${i}]`
    checkKeys(each, RULE_KEYS, where)
    return Object.freeze(readRule(each as Given, where, seed))
  })
  return { kind: 'any', of: Object.freeze(rules) }
}

function readRule(options: Given, of: string, seed: string): TimingRule {
  countRules(options, of, ['cron', 'every', 'at'])
  const { cron, every, at, timezone, dst } = options
  if (cron !== undefined) {
    try {
      return readCron({ cron, timezone, dst } as CronRule, seed)
    } catch (cause) {
      throw named(cause, of)
    }
  }
  refuseZone(options, of, 'remove them: intervals and single instants do not depend on a time zone')
  if (every === undefined) return { kind: 'once', at: readInstantOption(at, `${of}: at`) }
  const everyMs = readDuration(every, `${of}: every`)
  try {
    return { kind: 'interval', everyMs, anchorAt: interval(formatDuration(everyMs)).anchorAt }
  } catch (cause) {
    throw named(cause, of)
  }
}

/** Equal rules share one object, so that code that handles many of them can compare by identity. */
const usual = new Map<string, Interning<TimingRule>>()

function readCron({ cron, timezone, dst }: CronRule, seed: string): TimingRule {
  const rules = { ...(timezone === undefined ? {} : { timezone }), ...(dst === undefined ? {} : { dst: { ...dst } }) }
  const timing = parseCron(cron, { seed, ...rules })
  refuseNever(timing, systemClock.now())
  const zone = timing.timezone
  if (dst !== undefined) return { kind: 'cron', cron, ...rules, timezone: zone }
  const family = usual.get(zone) ?? interning(1000)
  usual.set(zone, family)
  const known = family.get(cron)
  if (known) return known
  const rule = Object.freeze({ kind: 'cron', cron, timezone: zone } as const)
  family.offer(cron, rule)
  return rule
}

function countRules(options: Given, of: string, keys: readonly (keyof Given)[]): void {
  const given = keys.filter((key) => options[key] !== undefined).length
  if (given === 1) return
  const names = `${keys.slice(0, -1).join(', ')} and ${keys.at(-1)}`
  throw refused(`${of} has ${given} of ${names}`, 'set exactly one of them')
}

function refuseZone({ timezone, dst }: Given, of: string, hint: string): void {
  if (timezone !== undefined || dst !== undefined)
    throw refused(`${of}: timezone and dst belong to cron and are not allowed here`, hint)
}

/** The time zone of the schedule's dates: that of its cron expressions if they agree, otherwise UTC. */
export function zoneOf(rule: TimingRule): string {
  const rules = rule.kind === 'any' ? rule.of : [rule]
  const zones = new Set(rules.flatMap((each) => (each.kind === 'cron' ? [each.timezone] : [])))
  return zones.size === 1 ? [...zones][0]! : 'UTC'
}

/** A timing is accepted only if this many next occurrences can be found cheaply. */
const SEARCHED = 10

/**
 * A timing whose end has passed is valid, because code keeps declaring it. Therefore the search begins well before the end, and
 * before every single instant.
 */
function refuseEmpty(spec: TimingSpec, of: string, seed: string): void {
  const now = systemClock.now()
  const rules = spec.kind === 'any' ? spec.of : [spec]
  const single = rules.flatMap((each) => (each.kind === 'once' ? [each.at] : []))
  const fromAt = Math.min(now, ...single.map((at) => at - 1), (spec.endAt ?? now + NEVER_MS) - NEVER_MS)
  const untilAt = Math.max(now + NEVER_MS, ...single)
  const near = { ...spec, endAt: Math.min(spec.endAt ?? untilAt, untilAt) }
  const slots = slotsOf(near, seed)
  const budget = searchBudget(SMALL_SEARCH)
  try {
    if (nextRunAt(slots, fromAt, budget) !== null) {
      // Every read of the schedule searches from the present, so that search must be cheap.
      if (spec.exclude) allSteps(findingRuns(slots, { afterAt: now, count: SEARCHED }, budget))
      return
    }
  } catch (cause) {
    throw named(cause, of)
  }
  const bounds = (['startAt', 'endAt', 'exclude'] as const).filter((key) => spec[key] !== undefined)
  throw new EverytickError(
    'CRON_NEVER',
    `${of}: startAt, endAt or exclude removes all occurrences of the next 8 years`,
    {
      hint: `change ${bounds.join(' or ')}`,
    },
  )
}
