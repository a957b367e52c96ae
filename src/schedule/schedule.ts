/** What a schedule is, as data: when, what, and by which policies; computing its occurrences is `timing.ts` and its kinds. */
import type { Json } from '../json.ts'
import type { Overlap, RunPolicy } from '../run/run.ts'
import { Any } from './any.ts'
import type { Fold, Gap } from './clock-change.ts'
import { parseCron } from './cron.ts'
import { Interval } from './interval.ts'
import { Once } from './once.ts'
import type { Timing } from './timing.ts'

/** When, without bounds: one rule, or several of which each gives occurrences. */
export type TimingRule =
  | {
      readonly kind: 'cron'
      readonly cron: string
      readonly timezone: string
      readonly dst?: { readonly gap?: Gap; readonly fold?: Fold }
    }
  | { readonly kind: 'interval'; readonly everyMs: number; readonly anchorAt: number }
  | { readonly kind: 'once'; readonly at: number }
  | { readonly kind: 'any'; readonly of: readonly TimingRule[] }

/** Occurrences that are none of the schedule's runs, though its rule names them. */
export type Exclusion =
  /** A whole day on the wall of a zone, such as `2026-12-25`. */
  | { readonly kind: 'date'; readonly date: string; readonly timezone: string }
  /** From one instant on, up to another. */
  | { readonly kind: 'range'; readonly fromAt: number; readonly toAt: number }
  /** Whatever falls into a minute (with six fields: a second) that the expression names. */
  | { readonly kind: 'cron'; readonly cron: string; readonly timezone: string }

/** A timing as it is stored: names and numbers, never computed offsets. */
export type TimingSpec = TimingRule & {
  /** Occurrences before this are skipped. */
  readonly startAt?: number
  /** There are no occurrences after this. */
  readonly endAt?: number
  readonly exclude?: readonly Exclusion[]
}

/** By how much runs are late on purpose: at most so many milliseconds, or such a share of the time to the next occurrence. */
export interface Jitter {
  readonly max: { readonly ms: number } | { readonly share: number }
  /** Whether all occurrences of a schedule are as late, or each has a hash of its own. */
  readonly per: 'schedule' | 'occurrence'
}

/** How occurrences fire. */
export interface FiringPolicy {
  readonly overlap: Overlap
  readonly jitter: Jitter | null
  /** After so many runs the schedule is done. */
  readonly maxRuns: number | null
  /** Runs that share it, in one workspace, go one after another, whatever made them. */
  readonly concurrencyKey: string | null
}

export type CatchUp = 'none' | 'latest' | 'all'

export interface CatchUpPolicy {
  readonly catchUp: CatchUp
  /** Occurrences older than this are missed. */
  readonly windowMs: number
  /** With `all`: how many at most. */
  readonly limit: number
}

export interface ScheduleDefinition {
  readonly workspace: string
  readonly key: string
  readonly timing: TimingSpec
  readonly job: string
  readonly queue: string
  readonly payload: Json
  readonly priority: number
  readonly policy: RunPolicy
  readonly catchUp: CatchUpPolicy
  readonly firing: FiringPolicy
  readonly description: string
  readonly tags: readonly string[]
  readonly metadata: Json
  /** Who owns the definition: a caller of the API, or code that is synced on start; with the name of its app, if it has one. */
  readonly source: 'api' | 'code' | `code:${string}`
}

export interface Pause {
  readonly reason: string
  readonly by: string
  readonly at: number
  readonly until: number | null
}

/** Why a schedule was set aside: it cannot be planned, and must not hold up the others. */
export interface Quarantine {
  readonly code: string
  readonly message: string
  readonly at: number
}

export interface Schedule extends ScheduleDefinition {
  readonly id: string
  readonly revision: number
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
  readonly updatedBy: string
  /** Occurrences after this are the schedule's; those before its creation are not. */
  readonly sinceAt: number
  readonly pause: Pause | null
  readonly quarantine: Quarantine | null
  /** When planning looks next: at the next occurrence as a rule; null when there is none, or while paused or quarantined. */
  readonly nextAt: number | null
  /** Every occurrence up to here is accounted for; only a retraction inside the same transaction moves it back. */
  readonly watermarkAt: number
  /** How many runs its occurrences became. */
  readonly runCount: number
}

/** The occurrences that a rule names, bounds left aside. `seed` spreads `H`; the eight-year rule was applied when it was accepted. */
export function timingOf(rule: TimingRule, seed: string): Timing {
  switch (rule.kind) {
    case 'cron':
      return parseCron(rule.cron, { timezone: rule.timezone, seed, ...(rule.dst ? { dst: rule.dst } : {}) })
    case 'interval':
      return new Interval(rule.everyMs, rule.anchorAt)
    case 'once':
      return new Once(rule.at)
    case 'any':
      return new Any(rule.of.map((each) => timingOf(each, seed)))
  }
}

export const seedOf = (schedule: { readonly workspace: string; readonly key: string }): string =>
  `${schedule.workspace}/${schedule.key}`
