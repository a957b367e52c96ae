/** Decides from engine events whether loops of this process fail on the store, which is how a read-only store shows. */
import { EverytickError } from '../errors.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Clock } from '../time/clock.ts'

export interface StoreFailures {
  note(fact: EngineEvent): void
  /** Whether a loop recently failed on the store and has not succeeded since. */
  isFailing(): boolean
}

/** Errors caused by the database or its disk; other errors may be caused by a single statement. */
const OF_STORE: ReadonlySet<string> = new Set([
  ...['STORE_DENIED', 'STORE_FULL', 'STORE_MISSING', 'STORE_STANDBY', 'STORE_TLS', 'STORE_UNREACHABLE'],
])
/** A loop that still fails has failed again within this time: it waits 5 s for a lock, and at most 15 s between passes. */
const CURRENT_MS = 30_000

export function createStoreFailures(clock: Pick<Clock, 'elapsed'>): StoreFailures {
  /** The time of the last failure, by loop. */
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
