/** What is known about one occurrence, and what may be said of it; deciding is `why.ts`, gathering `scheduler/why.ts`. */
import type { Run } from '../run/run.ts'
import type { RunState } from '../run/state.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { DefinitionPeriods, Timeline } from './definition-periods.ts'
import type { NonRun } from './non-run.ts'

export type WhyVerdict =
  | 'ran'
  | 'running'
  | 'waiting'
  | 'failed'
  | 'cancelled'
  | 'skipped'
  | 'missed'
  /** The instant asked about is no occurrence. */
  | 'not_due'
  | 'future'
  | 'not_planned_yet'
  /** Longer ago than records are kept. */
  | 'forgotten'
  /** Accounted for, and yet neither run nor record: ask for an audit. */
  | 'lost'

export interface WhyFacts {
  readonly schedule: Schedule
  readonly periods: DefinitionPeriods
  readonly timeline: Timeline
  /** The instant that was asked about. */
  readonly at: number
  readonly now: number
  /** What happened before this may have left the store. */
  readonly forgottenAt: number
  /** The run of the occurrence that is meant. */
  readonly run: Run | null
  /** The run of the occurrence that is meant was deleted: this is what is left of it. */
  readonly deleted: DeletedRun | null
  /** A run that made it good later. */
  readonly backfill: Run | null
  readonly nonRun:
    | (Pick<NonRun, 'state' | 'reason' | 'detail' | 'count' | 'fromAt' | 'toAt'> & { recordedAt: number })
    | null
  /** The run that was, or is, before it in its group. */
  readonly before: Run | null
  readonly queue: {
    readonly pause: { readonly by: string; readonly reason: string; readonly at: number } | null
  } | null
  /** Processes that are alive. */
  readonly workers: readonly WhyWorker[]
  readonly journal: readonly { readonly at: number; readonly kind: string }[]
}

export interface DeletedRun {
  readonly id: string
  readonly state: RunState
  readonly startedAt: number | null
  readonly by: string
  readonly at: number
}

export interface WhyWorker {
  readonly id: string
  readonly roles: readonly string[]
  readonly queues: Readonly<Record<string, number>>
}

export interface Fate {
  readonly verdict: WhyVerdict
  readonly reason: string | null
  /** One English sentence. */
  readonly sentence: string
  /** What to change so that it would run, where something can be. */
  readonly hint: string | null
}

/** The occurrence that is meant: the instant itself, or the nearest before it; null when there is none. */
export const meantBy = (timeline: Timeline, at: number): number | null => timeline.prevAt(at + 1)
