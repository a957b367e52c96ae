/** Keeps computed answers for a minute and renews them in the background, one computation at a time; what is computed is the caller's matter. */
import type { Clock } from '../time/clock.ts'
import { createSemaphore } from './concurrency.ts'

export interface Made<Value> {
  /** When it was begun, by the clock of the process. */
  readonly asOf: number
  readonly value: Value
}

export interface ForecastCache {
  /** The answer of this name: kept, or computed now for the first caller, in a place of its owner: a workspace, or a caller of all of them. */
  get<Value>(name: string, compute: () => Promise<Value>, owner?: string): Promise<Made<Value>>
}

/** From then on it is computed again, while the old answer is still given. */
const FRESH_MS = 60_000
/** From then on the old answer is of no use any more. */
const USEFUL_MS = 10 * 60_000
const MAX_KEPT = 50
/** Computations that wait for their turn, of all owners and of one. */
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

  /** With no room left, the owner of the most answers loses its oldest one. */
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

  /** The caller has its answer: without a place left, the next caller renews it. */
  const renewLater = (name: string, compute: () => Promise<unknown>, owner: string): void => {
    try {
      renew(name, compute, owner).catch(() => {})
    } catch {
      // No place is left.
    }
  }

  return {
    async get<Value>(name: string, compute: () => Promise<Value>, owner = '') {
      const made = kept.get(name)?.made
      const ageMs = made ? clock.now() - made.asOf : Number.POSITIVE_INFINITY
      if (!made || ageMs >= USEFUL_MS) return (await renew(name, compute, owner)) as Made<Value>
      // Nobody waits for it: a failure is met by whoever asks when the old answer is of no use any more.
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
