/** Decides which share of the schedules this process plans, by leases on numbered places; planning that share is the planner's affair. */
import { MAX_SHARDS, type Shard } from '../plan/shard.ts'
import type { Lock, LockStore } from '../store/contract/locks.ts'
import type { Clock } from '../time/clock.ts'
import type { PlannerLeadership } from './planner.ts'

export interface PlannerShardsOptions {
  readonly locks: LockStore
  readonly clock: Clock
  readonly holder: string
  readonly leaseMs: number
}

/** The first place is the lease that a single planner holds, so that every check for a live planner reads the same lease in both modes. */
const PLACES: readonly string[] = Array.from({ length: MAX_SHARDS }, (_, index) =>
  index === 0 ? 'planner' : `planner-${index + 1}`,
)

/**
 * Each planner holds the lowest free place and plans the share of its rank among the held places. After a planner joins or leaves,
 * the others learn it at their next renewal, half a lease later at most; the share of a planner that was killed has no planner until its lease ends. Both
 * are shorter than the lookahead, and the store accepts only one of two plans for the same occurrence.
 */
export function plannerShards({ locks, clock, holder, leaseMs }: PlannerShardsOptions): PlannerLeadership {
  let leased: Lock | null = null
  let shard: Shard | null = null
  let renewAt = Number.NEGATIVE_INFINITY

  const take = async (places: readonly string[]): Promise<Lock | null> => {
    for (const name of places) {
      const lock = await locks.acquire(name, holder, leaseMs)
      if (lock !== null) return lock
    }
    return null
  }

  const renew = async (): Promise<void> => {
    const own = (leased && (await take([leased.name]))) ?? (await take(PLACES))
    leased = own
    shard = null
    if (own === null) return
    const taken = takenPlaces(await locks.list(), own, leaseMs)
    const moved = await take(PLACES.slice(0, PLACES.indexOf(own.name)).filter((name) => !taken.includes(name)))
    if (moved !== null) await locks.release(own)
    leased = moved ?? own
    const now = PLACES.filter((name) => name === leased?.name || (name !== own.name && taken.includes(name)))
    shard = { index: now.indexOf(leased.name), count: now.length }
  }

  return {
    get leading() {
      return leased !== null
    },
    get shard() {
      return shard
    },
    async leads() {
      const startedAt = clock.elapsed()
      if (leased === null || startedAt >= renewAt) {
        await renew()
        renewAt = startedAt + leaseMs / 2
      }
      return leased !== null
    },
    async release() {
      const lock = leased
      leased = null
      shard = null
      if (lock !== null) await locks.release(lock)
    },
  }
}

/** The places with a live lease. `own` was renewed just now, so its end tells the time of the database. */
function takenPlaces(locks: readonly Lock[], own: Lock, leaseMs: number): readonly string[] {
  const now = own.until - leaseMs
  return locks.filter(({ name, until }) => PLACES.includes(name) && until > now).map(({ name }) => name)
}
