/** Keeps computed answers for a minute and renews them in the background, one computation at a time; what is computed is the caller's matter. */
import type { Clock } from '../time/clock.ts'
import { Refusal } from './problem.ts'

export interface Made<Value> {
  /** When it was begun, by the clock of the process. */
  readonly asOf: number
  readonly value: Value
}

export interface ForecastCache {
  /** The answer of this name: kept, or computed now for whoever comes first. */
  get<Value>(name: string, compute: () => Promise<Value>): Promise<Made<Value>>
}

/** From then on it is computed anew, while the old answer is still given. */
const FRESH_MS = 60_000
/** From then on the old answer is of no use any more. */
const USEFUL_MS = 10 * 60_000
const MAX_KEPT = 50
/** More that wait for their turn are sent away. */
const MAX_WAITING = 20

export function createForecastCache(clock: Clock): ForecastCache {
  const kept = new Map<string, Made<unknown>>()
  const underWay = new Map<string, Promise<Made<unknown>>>()
  let last: Promise<unknown> = Promise.resolve()

  const keep = (name: string, made: Made<unknown>): void => {
    kept.delete(name)
    kept.set(name, made)
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break
      kept.delete(oldest)
    }
  }

  const renew = (name: string, compute: () => Promise<unknown>): Promise<Made<unknown>> => {
    const known = underWay.get(name)
    if (known) return known
    if (underWay.size >= MAX_WAITING) {
      const headers = { 'retry-after': '10' }
      throw new Refusal('UNAVAILABLE', 'too many forecasts are being computed', { hint: 'ask again soon', headers })
    }
    const work = async (): Promise<Made<unknown>> => {
      const asOf = clock.now()
      const made = { asOf, value: await compute() }
      keep(name, made)
      return made
    }
    const begun = last.then(work, work).finally(() => underWay.delete(name))
    last = begun.catch(() => {})
    underWay.set(name, begun)
    return begun
  }

  return {
    async get<Value>(name: string, compute: () => Promise<Value>) {
      const made = kept.get(name)
      const ageMs = made ? clock.now() - made.asOf : Number.POSITIVE_INFINITY
      if (!made || ageMs >= USEFUL_MS) return (await renew(name, compute)) as Made<Value>
      // Nobody waits for it: a failure is met by whoever asks when the old answer is of no use any more.
      if (ageMs >= FRESH_MS && underWay.size < MAX_WAITING) renew(name, compute).catch(() => {})
      return made as Made<Value>
    },
  }
}
