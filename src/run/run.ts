/** Defines a run: the row of an occurrence or an enqueued call; `state.ts` has its states, `settle.ts` the verdicts of attempts. */
import type { Json } from '../json.ts'
import type { RetryPolicy } from './retry.ts'
import type { RunState } from './state.ts'

/** What happens to a run whose concurrency group is still busy when it comes due. */
export type Overlap = 'skip' | 'queue' | 'queue_one' | 'cancel_previous' | 'allow'

/** Whether workers may claim a run: `ready`: yes. `undecided`: not decided yet. `blocked`: it waits for earlier runs of its concurrency group. */
export type Readiness = 'ready' | 'undecided' | 'blocked'

/** What created the run. */
export type Trigger = 'schedule' | 'catch_up' | 'backfill' | 'enqueue' | 'manual'

/** The execution policy of a run, stored with it so that any node can settle it. An absent field means no limit; no default is applied later. */
export interface RunPolicy {
  readonly retry: RetryPolicy
  /** How long one attempt may take; absent means no limit while its lease is renewed. */
  readonly timeoutMs?: number
  /** Absent means at least once. `at_most_once`: an attempt that started and did not succeed is never repeated. */
  readonly delivery?: 'at_most_once'
  /** Everytick pauses the schedule after this many failed runs in a row. */
  readonly pauseOnFailure?: number
}

export interface RunError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  /** Structured data of a target about the attempt, such as the HTTP response. */
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
  /** 0 to 9; workers claim due runs with a higher priority first. */
  readonly priority: number
  readonly schedule: ScheduleRef | null
  /** The nominal instant; null when the run was enqueued by hand. */
  readonly scheduledAt: number | null
  /** The previous nominal instant: the run covers the range (slotStartAt, scheduledAt]. */
  readonly slotStartAt: number | null
  readonly dueAt: number
  /** The concurrency group, in which one run at a time is active; null without one. */
  readonly group: string | null
  /** What happens when its concurrency group is busy; `allow` without a group. */
  readonly overlap: Overlap
  /** `ready` runs may be claimed; the others wait behind the active run of their concurrency group. */
  readonly readiness: Readiness
  readonly createdAt: number
  readonly payload: Json
  readonly policy: RunPolicy
  /** How many attempts workers have claimed. */
  readonly attempt: number
  /** Grows with every claim; a worker's write counts only with the current one. */
  readonly fence: number
  /**
   * Random for every claim, and null before the first claim. After a failover that lost a claim, two workers may have the same
   * fence; they never have the same claim id.
   */
  readonly claimId: string | null
  /** Also null for a running run that its handler handed over: it waits for an external completion. */
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
