/** Reads the state of the whole fleet from the store for a scrape. Parts are independent, so that one failure does not affect the others. */
import { NO_HASH } from '../../observe/audit-chain.ts'
import { MOST_NAMES } from '../../scheduler/per-name.ts'
import type { QueueRow } from '../../store/contract/queues.ts'
import type { Sizes } from '../../store/contract/stats.ts'
import type { Store } from '../../store/contract/store.ts'
import type { PoolUsage, StoreHealth } from '../../store/contract/upkeep.ts'
import { isAlive } from '../../store/contract/workers.ts'
import type { Clock } from '../../time/clock.ts'
import { shownQueues } from '../shown-queues.ts'
import type { Coverage } from './coverage.ts'
import type { DayTotals, DayTotalsReader } from './day-totals.ts'
import { pollStore, type StorePoll, storeAway } from './store-poll.ts'

export type QueueState = Pick<QueueRow, 'name' | 'ready' | 'oldestDueAt' | 'pause'>

/** Queues with their own series, and the number of queues that share one. */
export interface QueueStates {
  readonly shown: readonly QueueState[]
  readonly hidden: readonly QueueState[]
}

/** The number and the hash of the newest audit log entry. */
export interface AuditHead {
  readonly entries: number
  readonly hash: string
}

/** A part is null if it could not be read. */
export interface Fleet extends StorePoll {
  readonly lagMs: number | null
  readonly queues: QueueStates | null
  readonly workers: number | null
  readonly leadershipChanges: number | null
  readonly orphaned: number | null
  readonly sizes: Sizes | null
  readonly health: StoreHealth | null
  readonly coverage: number | null
  readonly today: DayTotals | null
  readonly audit: AuditHead | null
}

export const fleetAway = (pool: PoolUsage | null): Fleet => ({
  ...storeAway(pool),
  lagMs: null,
  queues: null,
  workers: null,
  leadershipChanges: null,
  orphaned: null,
  sizes: null,
  health: null,
  coverage: null,
  today: null,
  audit: null,
})

export interface FleetOptions {
  readonly clock: Clock
  readonly coverage: Coverage
  readonly dayTotals: DayTotalsReader
  /** Queues that this process serves, even if the store does not list them. */
  readonly queues: readonly string[]
}

/** For queues that only runs name: the most to read, and the most with their own series per workspace. */
const MAX_UNKNOWN = 1000
const MAX_OF_ONE = 20
/** Counting stops here: a higher number adds no information. */
const MOST_ORPHANS = 200

/** Queries run one after another, so that a scrape takes only one connection of the pool. */
export async function pollFleet(store: Store, options: FleetOptions): Promise<Fleet> {
  const { clock, coverage, dayTotals } = options
  const seen = await pollStore(store, clock)
  const { now } = seen
  return {
    ...seen,
    lagMs: await known(() => lagOf(store)),
    queues: await known(() => queuesOf(store, { now, own: options.queues })),
    workers: await known(() => workersAlive(store, now)),
    leadershipChanges: await known(() => leadershipChangesOf(store)),
    orphaned: await known(() => store.claims.expired(MOST_ORPHANS).then((runs) => runs.length)),
    sizes: await known(() => store.stats.sizes()),
    health: await known(() => store.upkeep.health()),
    coverage: await known(() => coverage.poll(store, now)),
    today: await known(() => dayTotals.poll(store.stats.read, now)),
    audit: await known(() => auditHeadOf(store)),
  }
}

async function known<T>(poll: () => Promise<T>): Promise<T | null> {
  try {
    return await poll()
  } catch {
    return null
  }
}

/** How long the earliest cursor has been overdue; a planner that keeps up has its cursors in the future. */
async function lagOf({ planning }: Store): Promise<number> {
  const { now, schedules } = await planning.due({ lookaheadMs: 0, limit: 1 })
  const first = schedules[0]
  return first ? Math.max(0, now - first.nextAt) : 0
}

/** Empty queues report 0, so that an alert can see that a queue has emptied. */
async function queuesOf(
  { queues, workers }: Store,
  { now, own }: { now: number; own: readonly string[] },
): Promise<QueueStates> {
  const alive = (await workers.list()).filter((worker) => isAlive(worker, now))
  const served = new Set([...own, ...alive.flatMap((worker) => Object.keys(worker.queues))])
  const { rows } = await queues.sweep({ after: '', limit: MAX_UNKNOWN, names: [...served] })
  return shownQueues(rows, { served, all: MOST_NAMES, each: MAX_OF_ONE })
}

async function workersAlive({ workers }: Store, now: number): Promise<number> {
  return (await workers.list()).filter((worker) => isAlive(worker, now)).length
}

/** The fence of a lock grows each time it changes hands. */
async function leadershipChangesOf({ locks }: Store): Promise<number> {
  return (await locks.list()).find(({ name }) => name === 'planner')?.fence ?? 0
}

async function auditHeadOf({ auditLog }: Store): Promise<AuditHead> {
  const [newest] = await auditLog.list({ limit: 1 })
  return newest ? { entries: newest.seq, hash: newest.hash } : { entries: 0, hash: NO_HASH }
}
