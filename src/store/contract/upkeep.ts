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

/** How the database itself is; null where that database has no such thing. */
export interface StoreHealth {
  /** Connections in use, in all, and callers that wait for one. */
  readonly pool: { readonly used: number; readonly size: number; readonly waiting: number } | null
  /** Of the table of live runs. */
  readonly deadTuples: number | null
  /** How long ago the oldest transaction began that keeps old rows from being cleared away. */
  readonly oldestSnapshotMs: number | null
  readonly bytes: number
  /** Of the database itself, such as `18.1`. */
  readonly version: string
  /** The newest change of the schema that was applied, and the newest that this version knows. */
  readonly schemaVersion: number
  readonly newestVersion: number
  /** How due runs are looked for: by their index, or through the whole table. Looked at now and then; null when it would not say. */
  readonly claimPlan: 'index' | 'scan' | null
  /** Whether sessions are shared with others by a pooler in transaction mode; null where that cannot be, or cannot be told. */
  readonly pooler: boolean | null
}

export interface UpkeepStore {
  health(): Promise<StoreHealth>
  /** One bounded step. `more` says that another step would find work. */
  tidy(retention: Retention): Promise<{ readonly removed: number; readonly more: boolean }>
}
