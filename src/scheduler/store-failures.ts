/** Decides, from the facts of this process, whether its own loops fail on the store; a store that can be read and not written shows only in them. */
import { EverytickError } from '../errors.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Clock } from '../time/clock.ts'

export interface StoreFailures {
  note(fact: EngineEvent): void
  /** Whether a loop failed on the store a moment ago and has not succeeded since. */
  isFailing(): boolean
}

/** What the database or its disk is to blame for; of others, one statement may be. */
const OF_STORE: ReadonlySet<string> = new Set([
  ...['STORE_DENIED', 'STORE_FULL', 'STORE_MISSING', 'STORE_STANDBY', 'STORE_TLS', 'STORE_UNREACHABLE'],
])
/** A loop that still fails has failed again by then: it waits 5 s for a lock, and at most 15 s between two passes. */
const CURRENT_MS = 30_000

export function createStoreFailures(clock: Pick<Clock, 'elapsed'>): StoreFailures {
  /** When each loop failed last, by name. */
  const failedAt = new Map<string, number>()
  return {
    note(fact) {
      if (fact.kind === 'engine.recovered') failedAt.delete(fact.where)
      else if (fact.kind === 'engine.error' && isOfStore(fact.error) && fact.retryInMs > 0)
        failedAt.set(fact.where, clock.elapsed())
    },
    isFailing: () => [...failedAt.values()].some((at) => clock.elapsed() - at < CURRENT_MS),
  }
}

const isOfStore = (error: unknown): boolean => error instanceof EverytickError && OF_STORE.has(error.code)
