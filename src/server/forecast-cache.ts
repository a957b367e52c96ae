/** Caches computed results for a minute and refreshes them in the background, one computation at a time. */
import type { Clock } from '../time/clock.ts'
import { createSemaphore } from './concurrency.ts'

export interface Made<Value> {
  /** When the computation started, by the clock of the process. */
  readonly asOf: number
  readonly value: Value
}

export interface ForecastCache {
  /** The result of this name, cached or computed now. It counts against its owner: a workspace, or a caller of all workspaces. */
  get<Value>(name: string, compute: () => Promise<Value>, owner?: string): Promise<Made<Value>>
}

/** Older results are refreshed in the background, and still returned. */
const FRESH_MS = 60_000
/** Older results are no longer returned. */
const USEFUL_MS = 10 * 60_000
const MAX_KEPT = 50
/** Maximum queued computations, in total and per owner. */
const LIMITS = { server: 20, workspace: 5, key: 5 }

interface Kept {
  readonly made: Made<unknown>
  readonly owner: string
}

export function createForecastCache(clock: Clock): ForecastCache {
  const kept = new Map<string, Kept>()
  const places = createSemaphore({ what: 'forecasts', limits: LIMITS, retryAfterSeconds: 10 })
  const underWay = new Map<string, Promise<Made<unknown>>>()
  let last: Promise<unknown> = Promise.resolve()

  /** If the cache is full, evicts the oldest result of the owner with the most results. */
  const keep = (name: string, answer: Kept): void => {
    kept.delete(name)
    kept.set(name, answer)
    if (kept.size > MAX_KEPT) kept.delete(oldestOfLargest(kept))
  }

  const renew = (name: string, compute: () => Promise<unknown>, owner: string): Promise<Made<unknown>> => {
    const known = underWay.get(name)
    if (known) return known
    const release = places.take({ key: null, workspace: owner })
    const work = async (): Promise<Made<unknown>> => {
      const asOf = clock.now()
      const made = { asOf, value: await compute() }
      keep(name, { made, owner })
      return made
    }
    const begun = last.then(work, work).finally(() => {
      underWay.delete(name)
      release()
    })
    last = begun.catch(() => {})
    underWay.set(name, begun)
    return begun
  }

  /** Refreshes in the background; if the queue is full, a later call refreshes instead. */
  const renewLater = (name: string, compute: () => Promise<unknown>, owner: string): void => {
    try {
      renew(name, compute, owner).catch(() => {})
    } catch {
      // The queue is full.
    }
  }

  return {
    async get<Value>(name: string, compute: () => Promise<Value>, owner = '') {
      const made = kept.get(name)?.made
      const ageMs = made ? clock.now() - made.asOf : Number.POSITIVE_INFINITY
      if (!made || ageMs >= USEFUL_MS) return (await renew(name, compute, owner)) as Made<Value>
      // No caller waits for it; if it keeps failing, callers see the error once the cached result has expired.
      if (ageMs >= FRESH_MS) renewLater(name, compute, owner)
      return made as Made<Value>
    },
  }
}

function oldestOfLargest(kept: ReadonlyMap<string, Kept>): string {
  const counts = new Map<string, number>()
  for (const { owner } of kept.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  const largest = Math.max(...counts.values())
  const [oldest] = [...kept].find(([, { owner }]) => counts.get(owner) === largest)!
  return oldest
}
