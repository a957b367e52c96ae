/** Asks whether the store answers and what time it is there, seldom and not for long; what else a scrape wants to know is `fleet.ts`. */
import type { Core } from '../../scheduler/core.ts'
import type { Store } from '../../store/contract/store.ts'
import type { PoolUsage } from '../../store/contract/upkeep.ts'
import type { Clock } from '../../time/clock.ts'

export interface StorePoll {
  /** Whether the store answered. */
  readonly up: boolean
  /** By the database's clock; 0 when it did not answer. */
  readonly now: number
  /** How far this machine's clock is ahead of the database's; null when it did not answer. */
  readonly skewMs: number | null
  /** The connections of this process, read before the first question, so that a scrape does not count itself. */
  readonly pool: PoolUsage | null
}

export const storeAway = (pool: PoolUsage | null): StorePoll => ({ up: false, now: 0, skewMs: null, pool })

export async function pollStore(store: Store, clock: Clock): Promise<StorePoll> {
  const pool = store.upkeep.pool()
  const askedAt = clock.now()
  const now = await store.now()
  // Halfway between question and answer, as far as anybody can tell.
  return { up: true, now, skewMs: (askedAt + clock.now()) / 2 - now, pool }
}

export interface Polling<Poll> {
  readonly poll: (store: Store) => Promise<Poll>
  /** What is known while the store does not answer. */
  readonly away: (pool: PoolUsage | null) => Poll
}

/** However many scrape, the store is asked this often at most. */
const FRESH_MS = 5000
/** Then the store counts as away: a scrape is worth more when it answers in time. */
const WAIT_LIMIT_MS = 4000

/** Answers a function that looks, or tells what it saw a moment ago; it never fails. */
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
