/** Decides how many runs a queue asks for beyond those it can start at once: enough that short work never waits for the database. */

/** A few round trips to a busy database. More would only wait here, and could have been another worker's. */
const AHEAD_MS = 100
const MAX_PREFETCH = 2000
/** Until a queue has shown how fast it is. */
const FIRST_PREFETCH = 10
/** A rate is trusted for so many times as many runs as have shown it: what comes next may be slower. */
const TRUST = 16

export interface Prefetch {
  /** How many runs may be held beyond the concurrency. */
  size(): number
  /** Tells how many runs ended in how much time, not counting that in which there was nothing to do. */
  ended(count: number, overMs: number): void
}

/** Follows the rate at which runs really end; a queue of slow work holds nothing that another worker could start. */
export function createPrefetch(): Prefetch {
  let perMs: number | null = null
  let seenInAll = 0
  return {
    size() {
      if (perMs === null) return FIRST_PREFETCH
      return Math.min(MAX_PREFETCH, TRUST * seenInAll, Math.floor(perMs * AHEAD_MS))
    },
    ended(count, overMs) {
      seenInAll += count
      const seen = count / Math.max(1, overMs)
      // Follows a faster rate at once and a slower one by halves, so that one pause does not empty the buffer.
      perMs = perMs === null || seen > perMs ? seen : (perMs + seen) / 2
    },
  }
}
