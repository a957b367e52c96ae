/** How much a workspace has of what its quotas limit: found by an index, and counted no further than the caller asks; what follows is decided by `workspace/`. */
import type { Executor } from './executor.ts'

export const COUNTED = ['schedules', 'pendingRuns', 'channels', 'rules'] as const
export type CountedQuota = (typeof COUNTED)[number]

export const NAMED = ['queues', 'tags'] as const
export type NamedQuota = (typeof NAMED)[number]

export interface QuotaCount {
  readonly upTo: number
  /** Sees what the caller's transaction has not committed. */
  readonly tx?: Executor | undefined
}

export interface QuotaStore {
  /**
   * Counts to `upTo` at most, and reads no more rows than that. A pending run is a run that has not ended, or one that a
   * backfill in progress may still add beside those it has open.
   */
  count(workspace: string, what: CountedQuota, look: QuotaCount): Promise<number>
  /**
   * Distinct names in use, in order, `upTo` at most: queues of schedules and of runs that have not ended, tags of schedules. Reads
   * a few rows for each name, however often it is used. A tag may be cut after 100 characters.
   */
  names(workspace: string, what: NamedQuota, look: QuotaCount): Promise<string[]>
}
