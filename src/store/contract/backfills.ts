/** Backfills as rows: a past span of a schedule that is being run afterwards, and how far it has come; the next step is decided by `plan/backfill.ts`. */
import type { Json } from '../../json.ts'
import type { BackfillProgress } from '../../plan/backfill.ts'
import type { Executor } from './executor.ts'
import type { NewRun } from './runs.ts'

export type { BackfillProgress } from '../../plan/backfill.ts'

export interface NewBackfill {
  readonly id: string
  readonly scheduleId: string
  readonly workspace: string
  readonly key: string
  readonly by: string
  /** Occurrences with fromAt <= instant <= toAt. */
  readonly fromAt: number
  readonly toAt: number
  /** How many of its runs may be unfinished at once. */
  readonly concurrency: number
  /** Whether occurrences that ran already run again. */
  readonly force: boolean
  /** Instead of the schedule's own; null for its own. */
  readonly payload: Json
  /** Occurrences in the span. */
  readonly total: number
}

export interface Backfill extends NewBackfill, BackfillProgress {
  readonly createdAt: number
  readonly finishedAt: number | null
  /** Grows with every step; a step counts only from the one it saw. */
  readonly version: number
}

export interface BackfillFilter {
  readonly scheduleId?: string
  readonly workspace?: string
  readonly state?: Backfill['state']
  /** Only ids from the first on, and before the other where there is one. */
  readonly ids?: { readonly from: string; readonly before?: string }
  readonly limit: number
  /** Payloads are not read: null in what is answered. */
  readonly omitPayload?: boolean
}

export interface BackfillStore {
  create(backfill: NewBackfill, tx?: Executor): Promise<void>
  get(id: string): Promise<Backfill | null>
  /** Newest first; with `ids` by their ids, the greatest first. */
  list(filter: BackfillFilter): Promise<Backfill[]>
  /**
   * In one transaction: writes the progress and makes the runs. False, and nothing written, when the backfill is gone, is
   * not running any more, or is not at `version`.
   */
  advance(
    id: string,
    version: number,
    step: { readonly progress: BackfillProgress; readonly runs: readonly NewRun[] },
  ): Promise<boolean>
  /** Makes no more runs; those it made are the caller's to cancel. False when it was not running. */
  cancel(id: string): Promise<boolean>
}
