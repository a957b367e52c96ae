/** Forgetting: what is older than its retention leaves in bounded steps, and the partitions of the days to come are made. */
import type { EverytickError } from '../../errors.ts'

export interface Retention {
  /** Finished runs, by when they finished. */
  readonly historyMs: number
  /** Journal entries, non-run records and records of deleted runs. */
  readonly journalMs: number
  /** Idempotency keys. */
  readonly idempotencyMs: number
  /** Workers not seen for so long are dropped from the list. */
  readonly workersMs: number
  /** Schedules that `sync` paused this long ago, because no code has them, are removed. */
  readonly orphansMs: number
  /**
   * Schedules over for so long are removed: without a further occurrence, neither paused nor quarantined, without runs or a
   * backfill in flight, and unchanged for as long. Those that code declares stay, since the next sync would create them again. Null: all stay.
   */
  readonly endedMs: number | null
}

/** What is forgotten; each store has those that it keeps. */
export type Forgotten =
  | 'runs'
  | 'logs'
  | 'journal'
  | 'nonRuns'
  | 'deletedRuns'
  | 'revisions'
  | 'backfills'
  | 'idempotencyKeys'
  | 'workers'
  | 'documents'
  | 'stats'
  | 'claims'
  | 'orphans'
  | 'endedSchedules'

/** How many of each kind; those of which there are none are absent. */
export type ForgottenCounts = Readonly<Partial<Record<Forgotten, number>>>

export interface Tidied {
  readonly removed: number
  readonly counts: ForgottenCounts
  /** Whether another step would find work. */
  readonly more: boolean
}

/** Connections of this process to its database: in use, in all, and the callers that wait for one. */
export interface PoolUsage {
  readonly used: number
  readonly size: number
  readonly waiting: number
}

/** How the database itself is; null where that database has no such thing. */
export interface StoreHealth {
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
  /** Files of the database that other users of this machine can open; none where the database is a server. */
  readonly exposedFiles: readonly string[]
}

export interface UpkeepStore {
  /** The connections as they are at this moment; asks the database nothing. Null where the store has no pool of its own. */
  pool(): PoolUsage | null
  health(): Promise<StoreHealth>
  /**
   * Why the database takes no writes at this moment: its disk is full, or, in SQLite, another process keeps the lock. Null when it
   * takes them. Writes nothing, and costs more than a scrape should.
   */
  writeProblem(): Promise<EverytickError | null>
  /** One bounded step. */
  tidy(retention: Retention): Promise<Tidied>
  /** How much steps of `tidy` would remove now, one after another; reads all that is overdue, and writes nothing. */
  overdue(retention: Retention): Promise<ForgottenCounts>
}
