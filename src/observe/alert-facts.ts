/** What each kind of rule has to know, as plain data; who looks it up, and how, is decided elsewhere. */
import type { RunState } from '../run/state.ts'
import type { RuleKind } from './alert-rule.ts'

export interface NamedSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
}

/** A schedule whose cursor stands in the past, or one of whose runs is due and was not begun. */
export interface LateSchedule extends NamedSchedule {
  readonly sinceAt: number
  readonly because: 'not planned' | 'not started'
}

export interface QueueFact {
  readonly name: string
  readonly ready: number
  readonly oldestDueAt: number | null
  readonly paused: boolean
  /** Live processes that take runs from it. */
  readonly workers: number
}

export interface LiveRun {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly schedule: string | null
  readonly startedAt: number
  readonly timeoutMs: number | null
}

/** Over a stretch of time. */
interface Sums {
  /** What they are of: the empty text for the fleet, or such as `job mail`. */
  readonly of: string
  readonly workspace: string
}

export interface FactsByKind {
  readonly schedule_not_fired: {
    readonly late: readonly LateSchedule[]
    /** Queues in which too much waits to say which schedules it belongs to. */
    readonly deep: readonly { readonly queue: string; readonly workspace: string; readonly sinceAt: number }[]
  }
  readonly failed_in_a_row: {
    /** How their last runs ended, the newest first. */
    readonly schedules: readonly (NamedSchedule & { readonly ends: readonly RunState[] })[]
  }
  readonly failure_rate: Sums & { readonly succeeded: number; readonly failed: number }
  readonly run_too_long: {
    readonly runs: readonly LiveRun[]
    /** How long runs of a job usually take, by its name. */
    readonly usual: ReadonlyMap<string, { readonly p95Ms: number; readonly count: number }>
  }
  readonly missed: Sums & { readonly missed: number }
  readonly double_fire: Sums & { readonly doubled: number }
  readonly queue_age: { readonly queues: readonly QueueFact[] }
  readonly no_worker: { readonly queues: readonly QueueFact[] }
  readonly lateness_p99: Sums & { readonly p99Ms: number; readonly count: number }
  /** The node's clock less the database's. */
  readonly clock_skew: { readonly node: string; readonly skewMs: number }
  readonly planner_stalled: {
    readonly schedules: number
    /** Whether somebody holds the planner's lease. */
    readonly led: boolean
    /** Live processes that may plan, with a lease or without. */
    readonly planners: number
    /** One whose cursor is behind, if there is any. */
    readonly overdue: NamedSchedule | null
  }
  readonly schedule_quarantined: {
    readonly schedules: readonly (NamedSchedule & { readonly code: string; readonly message: string })[]
  }
  /** How often the planner's lease changed hands within the rule's window. */
  readonly leadership_flapping: { readonly changes: number }
  readonly dead_letter_growth: Sums & { readonly failed: number }
}

export type FactsOf<Kind extends RuleKind> = FactsByKind[Kind]
