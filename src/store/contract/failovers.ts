/** Failovers of the database: what the store remembers of each, and how the engine learns of one; how a failover is recognised is the store's own matter. */
import type { Failover } from '../../observe/failover.ts'

export interface FailoverStore {
  /**
   * Checks now and then that the database is the one last seen, and notes that it was. A failover is recorded before this
   * returns; it throws while that is not possible, and then nothing may be planned.
   */
  confirm(): Promise<void>
  /** The newest first. */
  list(limit: number): Promise<Failover[]>
  /** Calls back once for each failover that this process notices, also for one that it noticed before this call. Returns an unsubscribe function. */
  onFailover(listener: (failover: Failover) => void): () => void
}

/** For a store that has no standby which could take its place. */
export const NO_FAILOVERS: FailoverStore = {
  confirm: async () => {},
  list: async () => [],
  onFailover: () => () => {},
}
