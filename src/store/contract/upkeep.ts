/** Forgetting: what is older than its retention leaves in bounded steps, and the partitions of the days to come are made. */

export interface Retention {
  /** Finished runs, by when they finished. */
  readonly historyMs: number
  /** Journal entries and non-run records. */
  readonly journalMs: number
  /** Idempotency keys. */
  readonly idempotencyMs: number
  /** Workers not seen for so long are dropped from the list. */
  readonly workersMs: number
  /** Schedules that `sync` paused this long ago, because no code has them, are removed. */
  readonly orphansMs: number
}

export interface UpkeepStore {
  /** One bounded step. `more` says that another step would find work. */
  tidy(retention: Retention): Promise<{ readonly removed: number; readonly more: boolean }>
}
