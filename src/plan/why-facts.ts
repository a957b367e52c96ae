/** The facts about one occurrence and the verdicts of `why`; `scheduler/why.ts` gathers the facts, `why.ts` decides. */
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
  /** The given instant is not an occurrence. */
  | 'not_due'
  | 'future'
  | 'not_planned_yet'
  /** Older than the retention of records. */
  | 'forgotten'
  /** The planner passed it, and there is neither a run nor a record: run an audit. */
  | 'lost'

export interface WhyFacts {
  readonly schedule: Schedule
  readonly periods: DefinitionPeriods
  readonly timeline: Timeline
  /** The given instant. */
  readonly at: number
  readonly now: number
  /** Retention may have deleted records older than this. */
  readonly forgottenAt: number
  /** The run of the occurrence. */
  readonly run: Run | null
  /** What is left of the run when a user deleted it. */
  readonly deleted: DeletedRun | null
  /** A backfill run of the occurrence. */
  readonly backfill: Run | null
  readonly nonRun:
    | (Pick<NonRun, 'state' | 'reason' | 'detail' | 'count' | 'fromAt' | 'toAt'> & { recordedAt: number })
    | null
  /** The run that was, or is, before it in its concurrency group. */
  readonly before: Run | null
  readonly queue: {
    readonly pause: { readonly by: string; readonly reason: string; readonly at: number } | null
  } | null
  /** Live processes. */
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
  /** What to change so that such an occurrence runs, or null. */
  readonly hint: string | null
}

/** The occurrence that an instant refers to: the instant itself, or the nearest occurrence before it, or null. */
export const meantBy = (timeline: Timeline, at: number): number | null => timeline.prevAt(at + 1)
