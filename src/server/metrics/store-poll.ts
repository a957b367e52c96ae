/** Polls whether the store responds, and reads its clock, at a limited rate and with a timeout. */
import type { Core } from '../../scheduler/core.ts'
import type { Store } from '../../store/contract/store.ts'
import type { PoolUsage } from '../../store/contract/upkeep.ts'
import type { Clock } from '../../time/clock.ts'

export interface StorePoll {
  /** Whether the store responded. */
  readonly up: boolean
  /** The database time; 0 if the store did not respond. */
  readonly now: number
  /** Clock of this machine minus clock of the database; null if the store did not respond. */
  readonly skewMs: number | null
  /** The connections of this process, read before the first query, so that a scrape does not count itself. */
  readonly pool: PoolUsage | null
}

export const storeAway = (pool: PoolUsage | null): StorePoll => ({ up: false, now: 0, skewMs: null, pool })

export async function pollStore(store: Store, clock: Clock): Promise<StorePoll> {
  const pool = store.upkeep.pool()
  const askedAt = clock.now()
  const now = await store.now()
  // Assume that the store read its clock halfway through the round trip.
  return { up: true, now, skewMs: (askedAt + clock.now()) / 2 - now, pool }
}

export interface Polling<Poll> {
  readonly poll: (store: Store) => Promise<Poll>
  /** The result while the store does not respond. */
  readonly away: (pool: PoolUsage | null) => Poll
}

/** The minimum interval between queries, for any number of scrapers. */
const FRESH_MS = 5000
/** The query timeout, after which the store counts as down, so that the scrape responds in time. */
const WAIT_LIMIT_MS = 4000

/** Returns a function that polls the store, or returns the recent result; it never throws. */
export function createPoll<Poll>(
  { clock, timers, store }: Pick<Core, 'clock' | 'timers' | 'store'>,
  { poll, away }: Polling<Poll>,
): () => Promise<Poll> {
  let last: { readonly at: number; readonly seen: Promise<Poll> } | null = null
  let pool: PoolUsage | null = null

  const fresh = (): Promise<Poll> =>
    new Promise((resolve) => {
      const cancel = timers.set(WAIT_LIMIT_MS, () => resolve(away(pool)))
      const answer = (seen: Poll): void => {
        cancel()
        resolve(seen)
      }
      store()
        .then((opened) => {
          pool = opened.upkeep.pool()
          return poll(opened)
        })
        .then(answer, () => answer(away(pool)))
    })

  return () => {
    const at = clock.elapsed()
    if (!last || at - last.at >= FRESH_MS) last = { at, seen: fresh() }
    return last.seen
  }
}
