/** What a schedule is, as data: when, what, and by which policies; computing its occurrences is `timing.ts` and its kinds. */
import type { Json } from '../json.ts'
import type { RunPolicy } from '../run/run.ts'
import type { Fold, Gap } from './clock-change.ts'
import { compileCron } from './cron.ts'
import { Interval } from './interval.ts'
import { Once } from './once.ts'
import type { Timing } from './timing.ts'

/** A timing as it is stored: names and numbers, never computed offsets. */
export type TimingSpec =
  | {
      readonly kind: 'cron'
      readonly cron: string
      readonly timezone: string
      readonly dst?: { readonly gap?: Gap; readonly fold?: Fold }
    }
  | { readonly kind: 'interval'; readonly everyMs: number; readonly anchorAt: number }
  | { readonly kind: 'once'; readonly at: number }

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
  readonly updatedAt: number
  readonly pause: Pause | null
  readonly quarantine: Quarantine | null
  /** The next occurrence to be planned; null when there is none, or while paused or quarantined. */
  readonly nextAt: number | null
  /** Every occurrence up to here is accounted for; only a retraction inside the same transaction moves it back. */
  readonly watermarkAt: number
}

/** The timing of a stored spec. `seed` spreads `H`; the eight-year rule was applied when the spec was accepted. */
export function timingOf(spec: TimingSpec, seed: string): Timing {
  switch (spec.kind) {
    case 'cron':
      return compileCron(spec.cron, { timezone: spec.timezone, seed, ...(spec.dst ? { dst: spec.dst } : {}) })
    case 'interval':
      return new Interval(spec.everyMs, spec.anchorAt)
    case 'once':
      return new Once(spec.at)
  }
}

export const seedOf = (schedule: { readonly workspace: string; readonly key: string }): string =>
  `${schedule.workspace}/${schedule.key}`
