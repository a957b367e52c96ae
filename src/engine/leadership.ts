/** Whether this node should do a background task that one node is enough for; correctness never rests on it, so a stale yes does no harm. */
import type { Lock, LockStore } from '../store/contract/locks.ts'
import type { Clock } from '../time/clock.ts'

export interface Leadership {
  /** Takes or keeps the lease; asks the store only when less than half of it is left. */
  leads(): Promise<boolean>
  release(): Promise<void>
  /** Whether it did when it was last asked. */
  readonly leading: boolean
}

export interface LeadershipOptions {
  readonly locks: LockStore
  readonly clock: Clock
  readonly name: string
  readonly holder: string
  readonly leaseMs: number
}

export function leadership({ locks, clock, name, holder, leaseMs }: LeadershipOptions): Leadership {
  let lock: Lock | null = null
  let renewAt = 0
  return {
    get leading() {
      return lock !== null
    },
    async leads() {
      const now = clock.elapsed()
      if (lock && now < renewAt) return true
      lock = await locks.acquire(name, holder, leaseMs)
      renewAt = now + leaseMs / 2
      return lock !== null
    },
    async release() {
      const leased = lock
      lock = null
      if (leased) await locks.release(leased)
    },
  }
}

/** For background tasks that every node may do beside the others. */
export const everybodyLeads: Leadership = { leads: async () => true, release: async () => {}, leading: true }
