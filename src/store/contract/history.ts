/** Reads for people: runs wherever they stand, the journal, and occurrences that never ran; nothing here decides anything. */

import type { Json } from '../../json.ts'
import type { Change } from '../../plan/definition-periods.ts'
import type { NonRun } from '../../plan/non-run.ts'
import type { Readiness, Run, Trigger } from '../../run/run.ts'
import type { RunState } from '../../run/state.ts'

export interface RunFilter {
  readonly workspace?: string
  readonly scheduleId?: string
  readonly job?: string
  readonly queue?: string
  readonly states?: readonly RunState[]
}

export interface RunPage {
  readonly limit: number
  /**
   * The last run of the page before, or where a look ended. Pages run from the greatest id to the least, which is from the newest to the oldest by
   * the instant that an id begins with: that of its occurrence for a planned run, that of the request for any other.
   */
  readonly after?: { readonly id: string }
  /** The page ends before the stored content of its runs exceeds this; it has one run at least. No bound when absent. */
  readonly maxBytes?: number
  /** Columns that are not read: null in what is answered. */
  readonly omit?: readonly RunContent[]
}

/** What of a run may be large, and is left out of lists unless it is asked for. */
export type RunContent = 'payload' | 'result'

export interface JournalEntry {
  readonly at: number
  readonly kind: JournalKind
  readonly runId: string | null
  readonly scheduleId: string | null
  readonly data: Json
}

export type JournalKind =
  | 'retry'
  | 'lost'
  | 'timed_out'
  | 'postponed'
  | 'released'
  | 'unknown_job'
  | 'refused'
  | 'cancel_requested'
  | 'retried'
  | 'quarantined'

export interface RecordedNonRun extends Omit<NonRun, 'afterAt'> {
  readonly scheduleId: string
  readonly recordedAt: number
}

export interface NonRunFilter {
  readonly workspace?: string
  readonly scheduleId?: string
  readonly job?: string
  readonly queue?: string
  readonly states?: readonly RecordedNonRun['state'][]
}

/** Of a range in the order of the list: by its newest occurrence. */
export interface NonRunPlace {
  readonly toAt: number
  readonly scheduleId: string
}

export interface NonRunPage {
  readonly limit: number
  /** The last range of the page before, or where a look ended. */
  readonly after?: NonRunPlace
}

/** With what its schedule says now, or said last. */
export interface ListedNonRun extends RecordedNonRun {
  readonly workspace: string
  readonly key: string
  readonly job: string
  readonly queue: string
}

/** A run as far as it answers for an occurrence. */
export interface SlotRun {
  readonly id: string
  readonly scheduledAt: number
  readonly dueAt: number
  readonly state: RunState
  readonly trigger: Trigger
  readonly readiness: Readiness
  readonly queue: string
  /** The revision of the schedule that planned it. */
  readonly revision: number
  readonly attempt: number
  readonly workerId: string | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** Present where the run was deleted, and only its record answers for the occurrence. */
  readonly deleted?: { readonly by: string; readonly at: number }
}

/** A span of nominal instants: those with afterAt < instant <= untilAt. */
export interface SlotSpan {
  readonly afterAt: number
  readonly untilAt: number
}

/** One change of a schedule, with whose it was. */
export interface Revision extends Change {
  readonly scheduleId: string
  readonly workspace: string
  readonly key: string
}

/** Of entries that are only added, in the order in which they were. */
export interface EntryPage {
  readonly limit: number
  /** The `next` of the page before. */
  readonly after?: number
  readonly maxBytes: number
}

/** As many changes as `revisions` and `definitions` answer at most, and as many kinds as `journalKinds`. */
export const MAX_REVISIONS = 1000
export const MAX_KINDS = 1000

export interface HistoryStore {
  /** Live or finished. */
  run(id: string): Promise<Run | null>
  /** How these runs stand, live or finished, without reading anything else of them; those that are not there are left out. */
  states(ids: readonly string[]): Promise<ReadonlyMap<string, RunState>>
  /**
   * Live and finished together. Looks at a bounded number of rows, so that a page may be short or empty although there are
   * more: then `next` says where to go on; null when there is nothing more.
   */
  find(
    filter: RunFilter,
    page: RunPage,
  ): Promise<{ readonly runs: Run[]; readonly next: { readonly id: string } | null }>
  /** The same by as many looks as it takes: a page that is not full is the last. */
  runs(filter: RunFilter, page: RunPage): Promise<Run[]>
  /** A page of the journal of one run, oldest first; it ends before its content exceeds `maxBytes`, and has one entry at least. */
  journalPage(
    runId: string,
    page: EntryPage,
  ): Promise<{ readonly entries: JournalEntry[]; readonly next: number | null }>
  /** The same as its kinds and instants alone, oldest first; at most the newest thousand. */
  journalKinds(runId: string): Promise<Pick<JournalEntry, 'at' | 'kind'>[]>
  /** What happened to one run beyond what its row tells, oldest first. */
  journal(of: { readonly runId: string } | { readonly scheduleId: string }): Promise<JournalEntry[]>
  /** Ranges of occurrences that became no run, oldest first; those that reach into the span, or all. */
  nonRuns(scheduleId: string, span?: SlotSpan): Promise<RecordedNonRun[]>
  /**
   * Ranges of occurrences that became no run, of schedules that exist and of those that were removed, newest first by their
   * newest occurrence. Looks at a bounded number of rows, so that a page may be short or empty although there are more: then
   * `next` says where to go on; null when there is nothing more.
   */
  findNonRuns(
    filter: NonRunFilter,
    page: NonRunPage,
  ): Promise<{ readonly nonRuns: ListedNonRun[]; readonly next: NonRunPlace | null }>
  /** Runs of a schedule by their nominal instant, live and finished, in its order, at most `limit`. */
  slots(scheduleId: string, span: SlotSpan, limit: number): Promise<SlotRun[]>
  /** The newest runs of each of these schedules, newest first, at most `each` of every one. */
  latest(scheduleIds: readonly string[], each: number): Promise<ReadonlyMap<string, readonly SlotRun[]>>
  /**
   * The nominal instant of the newest occurrence at or before `untilAt` that has a run, live or finished, for each of these
   * schedules that has one.
   */
  lastFired(scheduleIds: readonly string[], untilAt: number): Promise<ReadonlyMap<string, number>>
  /** Changes of a schedule, oldest first; at most the newest thousand. Outlives the schedule. */
  revisions(scheduleId: string): Promise<Revision[]>
  /** The same without payloads, which are not all held in memory at once. */
  definitions(scheduleId: string): Promise<Revision[]>
  /** A page of the changes of a schedule, oldest first; it ends before its content exceeds `maxBytes`, and has one change at least. */
  revisionPage(
    scheduleId: string,
    page: EntryPage,
  ): Promise<{ readonly revisions: Revision[]; readonly next: number | null }>
}
