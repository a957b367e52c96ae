/** Reads for people: runs wherever they stand, the journal, and occurrences that never ran; nothing here decides anything. */

import type { Json } from '../../json.ts'
import type { NonRun } from '../../plan/non-run.ts'
import type { Run } from '../../run/run.ts'
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
  /** The last run of the page before: pages run from the newest (createdAt, id) to the oldest. */
  readonly after?: { readonly createdAt: number; readonly id: string }
}

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
  | 'redriven'
  | 'quarantined'

export interface RecordedNonRun extends NonRun {
  readonly scheduleId: string
  readonly recordedAt: number
}

export interface HistoryStore {
  /** Live or finished. */
  run(id: string): Promise<Run | null>
  /** Live and finished together. */
  runs(filter: RunFilter, page: RunPage): Promise<Run[]>
  /** What happened to one run beyond what its row tells, oldest first. */
  journal(of: { readonly runId: string } | { readonly scheduleId: string }): Promise<JournalEntry[]>
  /** Ranges of occurrences that became no run, oldest first. */
  nonRuns(scheduleId: string): Promise<RecordedNonRun[]>
}
