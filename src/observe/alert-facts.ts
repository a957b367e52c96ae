/** What each kind of rule has to know, as plain data; who looks it up, and how, is decided elsewhere. */
import type { RunState } from '../run/state.ts'
import type { RuleKind } from './alert-rule.ts'
import type { Failover } from './failover.ts'

export interface NamedSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
}

/** A schedule whose cursor stands in the past, or one of whose runs is due and was not begun. */
export interface LateSchedule extends NamedSchedule {
  readonly sinceAt: number
  /** For how long, without the time in which nobody could have noticed. */
  readonly lateMs: number
  readonly because: 'not planned' | 'not started'
}

/** A schedule, or a job of runs without one, and the newest of its runs that failed for good. */
export interface FailedSubject {
  readonly workspace: string
  readonly job: string
  readonly schedule: { readonly id: string; readonly key: string } | null
  readonly runId: string
  readonly failedAt: number
  readonly error: string | null
  /** When the newest run of it that succeeded ended, as far as that is known. */
  readonly succeededAt: number | null
}

/** An active schedule that had trouble lately, and how long it has been without a success. */
export interface SilentSchedule extends NamedSchedule {
  /** Since its last success, or since it was made, changed or resumed when that was later. */
  readonly sinceAt: number
  /** For how long, without the time in which nobody could have noticed. */
  readonly silentMs: number
  /** When as many occurrences had come due since then as the rule waits for; null when there are not so many. */
  readonly nthAt: number | null
  /** Whether any of its newest runs succeeded. */
  readonly succeeded: boolean
  /** The longest of its newest runs that succeeded. */
  readonly longestMs: number
  /** A run of it that goes on. */
  readonly running: { readonly id: string; readonly startedAt: number } | null
}

export interface QueueFact {
  readonly name: string
  readonly ready: number
  readonly oldestDueAt: number | null
  /** How long the run that waits longest has waited, without pauses of the queue and the time in which nobody could have noticed. */
  readonly waitedMs: number
  readonly paused: boolean
  /** Live processes that take runs from it. */
  readonly workers: number
  /** The workspace of a queue that only runs name; the empty text for one that a process or a person named. */
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

/** How late runs began that ended in one stretch of time. */
export interface LatenessStretch {
  readonly p99Ms: number
  readonly count: number
  /** How many of them began later than the rule allows. */
  readonly late: number
}

/** Over a stretch of time. */
interface Sums {
  /** What they are of: the empty text for the fleet, or such as `job mail`. */
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
    /** How their last runs ended, the newest first. */
    readonly schedules: readonly (NamedSchedule & { readonly ends: readonly RunState[] })[]
  }
  readonly failure_rate: Sums & { readonly succeeded: number; readonly failed: number }
  readonly run_too_long: {
    readonly runs: readonly LiveRun[]
    /** How long runs of a job usually take in its workspace, by `ownJob`. */
    readonly usual: ReadonlyMap<string, { readonly medianMs: number; readonly p95Ms: number; readonly count: number }>
    /** How long successful runs of a schedule took lately, by its id. */
    readonly ofSchedule: ReadonlyMap<string, { readonly medianMs: number; readonly count: number }>
  }
  readonly missed: Sums & { readonly missed: number }
  readonly double_fire: Sums & { readonly doubled: number }
  readonly queue_age: { readonly queues: readonly QueueFact[] }
  readonly queue_depth: { readonly queues: readonly QueueFact[] }
  readonly no_worker: { readonly queues: readonly QueueFact[] }
  /** Of all stretches together, and of each that has any. */
  readonly lateness_p99: Sums & LatenessStretch & { readonly stretches: readonly LatenessStretch[] }
  /** The node's clock less the database's. */
  readonly clock_skew: { readonly node: string; readonly skewMs: number }
  readonly planner_stalled: {
    readonly schedules: number
    /** Whether somebody holds the planner's lease. */
    readonly led: boolean
    /** Live processes that may plan, with a lease or without. */
    readonly planners: number
    /** For how long neither of both has been there. */
    readonly idleMs: number
    /** The one whose cursor is furthest behind, and by how much, if there is any. */
    readonly overdue: (NamedSchedule & { readonly lateMs: number }) | null
  }
  readonly schedule_quarantined: {
    readonly schedules: readonly (NamedSchedule & { readonly code: string; readonly message: string })[]
  }
  /** How often the planner's lease changed hands within the rule's window. */
  readonly leadership_flapping: { readonly changes: number }
  readonly dead_letter_growth: Sums & { readonly failed: number }
  readonly orphaned_rows: {
    /** Runs whose lease has ended and that no process has taken back. */
    readonly expired: { readonly runs: number; readonly forMs: number }
    /** Jobs that no worker has, and whose runs wait. */
    readonly unknownJobs: readonly {
      readonly workspace: string
      readonly job: string
      readonly queue: string
      readonly runs: number
      readonly forMs: number
    }[]
  }
  readonly cleanup_failing: {
    /** Live processes that clean up. */
    readonly planners: number
    /** Since the last step that went well. */
    readonly silentMs: number
    readonly error: string | null
  }
  readonly store_failed_over: { readonly failovers: readonly Failover[] }
}

export type FactsOf<Kind extends RuleKind> = EventsByKind[Kind]
