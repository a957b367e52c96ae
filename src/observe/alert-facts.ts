/** The facts that each kind of rule needs, as plain data. */
import type { RunState } from '../run/state.ts'
import type { RuleKind } from './alert-rule.ts'
import type { Failover } from './failover.ts'

export interface NamedSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
}

/** A schedule with a cursor in the past, or with a due run that has not started. */
export interface LateSchedule extends NamedSchedule {
  readonly sinceAt: number
  /** For how long, without periods when no server checked. */
  readonly lateMs: number
  readonly because: 'not planned' | 'not started'
}

/** A schedule, or a job for runs without one, and its newest permanently failed run. */
export interface FailedSubject {
  readonly workspace: string
  readonly job: string
  readonly schedule: { readonly id: string; readonly key: string } | null
  readonly runId: string
  readonly failedAt: number
  readonly error: string | null
  /** When its latest successful run ended, if known. */
  readonly succeededAt: number | null
}

/** An active schedule with recent trouble, and the time since its last success. */
export interface SilentSchedule extends NamedSchedule {
  /** Its last success, or its creation, change or resume if that was later. */
  readonly sinceAt: number
  /** For how long, without periods when no server checked. */
  readonly silentMs: number
  /** When the rule's number of occurrences since then had come due; null if there are fewer. */
  readonly nthAt: number | null
  /** Whether any of its newest runs succeeded. */
  readonly succeeded: boolean
  /** The longest duration among its newest successful runs. */
  readonly longestMs: number
  /** Its active run, if any. */
  readonly running: { readonly id: string; readonly startedAt: number } | null
}

export interface QueueFact {
  readonly name: string
  readonly ready: number
  readonly oldestDueAt: number | null
  /** How long the oldest waiting run has waited, without pauses of the queue and periods when no server checked. */
  readonly waitedMs: number
  readonly paused: boolean
  /** Live processes that serve the queue. */
  readonly workers: number
  /** The workspace of a queue that only runs name; the empty text for a configured or served queue. */
  readonly namedBy: string
}

export interface LiveRun {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly schedule: { readonly id: string; readonly key: string } | null
  readonly startedAt: number
  readonly timeoutMs: number | null
}

/** The start delays of runs that ended in one period. */
export interface LatenessStretch {
  readonly p99Ms: number
  readonly count: number
  /** How many started later than the rule allows. */
  readonly late: number
}

/** Sums over a period. */
interface Sums {
  /** The scope: the empty text for the fleet, or for example `job mail`. */
  readonly of: string
  readonly workspace: string
}

export interface EventsByKind {
  readonly schedule_not_fired: {
    readonly late: readonly LateSchedule[]
  }
  readonly run_failed: { readonly failed: readonly FailedSubject[] }
  readonly no_success: { readonly schedules: readonly SilentSchedule[] }
  readonly failed_in_a_row: {
    /** The final states of the latest runs, newest first. */
    readonly schedules: readonly (NamedSchedule & { readonly ends: readonly RunState[] })[]
  }
  readonly failure_rate: Sums & { readonly succeeded: number; readonly failed: number }
  readonly run_too_long: {
    readonly runs: readonly LiveRun[]
    /** Typical durations of a job in its workspace, by `ownJob`. */
    readonly usual: ReadonlyMap<string, { readonly medianMs: number; readonly p95Ms: number; readonly count: number }>
    /** Recent durations of successful runs, by schedule id. */
    readonly ofSchedule: ReadonlyMap<string, { readonly medianMs: number; readonly count: number }>
  }
  readonly missed: Sums & { readonly missed: number }
  readonly double_fire: Sums & { readonly doubled: number }
  readonly queue_age: { readonly queues: readonly QueueFact[] }
  readonly queue_depth: { readonly queues: readonly QueueFact[] }
  readonly no_worker: { readonly queues: readonly QueueFact[] }
  /** For all periods together, and for each period with runs. */
  readonly lateness_p99: Sums & LatenessStretch & { readonly stretches: readonly LatenessStretch[] }
  /** Clock of the node minus clock of the database. */
  readonly clock_skew: { readonly node: string; readonly skewMs: number }
  readonly planner_stalled: {
    readonly schedules: number
    /** Whether a process holds the planner lease. */
    readonly led: boolean
    /** Live processes with the scheduler role, with the lease or without. */
    readonly planners: number
    /** How long there has been neither a lease holder nor such a process. */
    readonly idleMs: number
    /** The schedule with the most overdue cursor, if any. */
    readonly overdue: (NamedSchedule & { readonly lateMs: number }) | null
  }
  readonly schedule_quarantined: {
    readonly schedules: readonly (NamedSchedule & { readonly code: string; readonly message: string })[]
  }
  /** How often the planner lease changed hands within the window of the rule. */
  readonly leadership_flapping: { readonly changes: number }
  readonly dead_letter_growth: Sums & { readonly failed: number }
  readonly orphaned_rows: {
    /** Runs whose lease has expired and that the reaper has not taken back. */
    readonly expired: { readonly runs: number; readonly forMs: number }
    /** Jobs with waiting runs that no worker has. */
    readonly unknownJobs: readonly {
      readonly workspace: string
      readonly job: string
      readonly queue: string
      readonly runs: number
      readonly forMs: number
    }[]
  }
  readonly cleanup_failing: {
    /** Live processes that run the cleanup. */
    readonly planners: number
    /** Time since the last successful step. */
    readonly silentMs: number
    readonly error: string | null
  }
  readonly store_failed_over: { readonly failovers: readonly Failover[] }
}

export type FactsOf<Kind extends RuleKind> = EventsByKind[Kind]
