/** What alert rules have to know of runs and schedules; every verb finds it by an index and reads a bounded number of rows, whatever is stored, and answers with so much of each workspace at most, so that none fills the places of another. */
import type { RunError } from '../../run/run.ts'

/** A stretch of time: instants with afterAt < instant <= untilAt. */
export interface TimeSpan {
  readonly afterAt: number
  readonly untilAt: number
}

/** A schedule with runs that ended otherwise than well, or a job with such runs of no schedule. */
export interface UnsuccessfulSubject {
  readonly workspace: string
  /** The job of the newest of these runs. */
  readonly job: string
  /** Null for runs that were enqueued; schedules that were removed are left out. */
  readonly schedule: { readonly id: string; readonly key: string } | null
  /** How many of these runs failed for good. */
  readonly failed: number
  /** The newest of them; null when none failed. */
  readonly lastFailure: {
    readonly runId: string
    readonly at: number
    /** With at most 200 characters of its message. */
    readonly error: Pick<RunError, 'name' | 'message'> | null
  } | null
}

/** How runs of a schedule went that succeeded lately. */
export interface RecentSuccesses {
  /** When the newest ended. */
  readonly at: number
  /** How long they took, at most 20 of them, the newest first. */
  readonly durationsMs: readonly number[]
}

/** Schedule of a run that is due and never began. */
export interface WaitingSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
  /** Of its oldest such run. */
  readonly dueAt: number
}

/** A run that has been running for long. */
export interface LongRun {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly schedule: { readonly id: string; readonly key: string } | null
  readonly startedAt: number
  readonly leaseUntil: number
  /** Null when a worker has it; otherwise it was handed over. */
  readonly workerId: string | null
  readonly timeoutMs: number | null
}

/** Runs that workers gave back because they do not have the job. */
export interface UnknownJob {
  readonly workspace: string
  readonly job: string
  readonly queue: string
  readonly runs: number
  /** When the first of them was made. */
  readonly sinceAt: number
}

/** Answers about one workspace at most, and about all together. */
export const MOST_OF_ONE = 100
export const MOST_OF_ALL = 2000

export interface PassedOver {
  readonly id: string
  readonly workspace: string
}

/** A schedule with a run that waits for its next attempt. */
export interface RetryingSchedule {
  readonly id: string
  readonly workspace: string
}

export interface MonitoringStore {
  /** Of the newest `limit` runs that ended otherwise than well within the span, grouped; the newest first. */
  unsuccessful(span: TimeSpan, limit: number): Promise<UnsuccessfulSubject[]>
  /** Looks at the newest few hundred finished runs of each schedule; one without a success among them is left out. */
  successes(scheduleIds: readonly string[]): Promise<ReadonlyMap<string, RecentSuccesses>>
  /** Schedules with occurrences that were recorded within the span as missed, or as skipped behind a run that goes on; of the newest `limit` records. */
  passedOver(span: TimeSpan, limit: number): Promise<PassedOver[]>
  /** Schedules with pending runs of which an attempt ended within the span and is to be retried; of the newest `limit` such journal entries. The schedule that has waited the longest comes first. */
  retrying(span: TimeSpan, limit: number): Promise<RetryingSchedule[]>
  /** Schedules with runs of a queue that may start, have been due since then or longer, and never began; of the `limit` oldest of each priority. */
  waiting(queue: string, of: { readonly dueBefore: number; readonly limit: number }): Promise<WaitingSchedule[]>
  /** The runs that have been running the longest, of those that began at or before an instant. */
  running(of: { readonly startedBefore: number; readonly limit: number }): Promise<LongRun[]>
  /** Jobs whose runs workers gave back within the span because they do not have the job, and which still wait; of the newest `limit` such entries. */
  unknownJobs(span: TimeSpan, limit: number): Promise<UnknownJob[]>
}
