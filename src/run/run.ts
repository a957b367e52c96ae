/** What a run is: the row an occurrence or an enqueue becomes; how it moves is `state.ts`, what follows an outcome is `settle.ts`. */
import type { Json } from '../json.ts'
import type { RetryPolicy } from './retry.ts'
import type { RunState } from './state.ts'

/** What becomes of a run whose group is still busy when it comes due. */
export type Overlap = 'skip' | 'queue' | 'queue_one' | 'cancel_previous' | 'allow'

/** Whether a run may be claimed: `closed` has not been decided about, `waiting` was, and waits for those before it. */
export type Readiness = 'ready' | 'undecided' | 'blocked'

/** Why the run exists. */
export type Trigger = 'schedule' | 'catch_up' | 'backfill' | 'enqueue' | 'manual'

/** What was decided about a run before it started, kept with it so that any node can settle it. What is absent limits nothing: no default fills it in later. */
export interface RunPolicy {
  readonly retry: RetryPolicy
  /** How long one attempt may take; absent means without end, as long as its lease is renewed. */
  readonly timeoutMs?: number
  /** Absent means at least once. `at_most_once`: one that began and did not end well is never begun again. */
  readonly delivery?: 'at_most_once'
  /** After so many failed runs in a row the schedule is paused. */
  readonly pauseOnFailure?: number
}

export interface RunError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  /** What a target kept of the attempt besides words, such as the answer it got. */
  readonly detail?: Json
}

export interface Progress {
  /** From 0 to 1. */
  readonly fraction: number
  readonly note?: string
}

export interface ScheduleRef {
  readonly id: string
  readonly key: string
  /** The revision of the definition that planned the run. */
  readonly revision: number
}

export interface Run {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly queue: string
  readonly state: RunState
  readonly trigger: Trigger
  /** 0 to 9; a higher one is claimed first among those that are due. */
  readonly priority: number
  readonly schedule: ScheduleRef | null
  /** The nominal instant; null when the run was enqueued by hand. */
  readonly scheduledAt: number | null
  /** The nominal instant before it, so that (slotStartAt, scheduledAt] is what the run answers for. */
  readonly slotStartAt: number | null
  readonly dueAt: number
  /** In which one run at a time is open; null when it may run beside any other. */
  readonly group: string | null
  /** What it does when its group is busy; `allow` when it has none. */
  readonly overlap: Overlap
  /** `open` may be claimed; the others wait behind the open one of their group. */
  readonly readiness: Readiness
  readonly createdAt: number
  readonly payload: Json
  readonly policy: RunPolicy
  /** How many times it was claimed to a worker. */
  readonly attempt: number
  /** Grows with every claim; a worker's write counts only with the current one. */
  readonly fence: number
  /**
   * Random for every claim, and null while nobody has claimed the run. After a failover that lost a claim, two workers may hold the
   * same fence; they never hold the same claim.
   */
  readonly claimId: string | null
  /** Null also while it runs, when its worker handed it over: then it waits to be completed from outside. */
  readonly workerId: string | null
  readonly leaseUntil: number | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly cancelRequested: boolean
  readonly idempotencyKey: string | null
  readonly result: Json
  readonly error: RunError | null
  readonly progress: Progress | null
}

/** Whether two reads of a run show the same claim. History keeps no claim id: there the start of the claim tells two apart whose fence is the same. */
export const isSameClaim = (one: Run, other: Run): boolean =>
  one.fence === other.fence &&
  (one.claimId && other.claimId ? one.claimId === other.claimId : one.startedAt === other.startedAt)
