/** Decides from the rate at which runs end how many runs a queue prefetches, and whether its runs are faster than a database write. */

/** A few round trips to a busy database. Prefetching more would keep runs from other workers. */
const AHEAD_MS = 100
const MAX_PREFETCH = 2000
/** Until a queue has shown how fast it is. */
const FIRST_PREFETCH = 10
/** A rate is trusted for so many times as many runs as have shown it: what comes next may be slower. */
const TRUST = 16
/** A commit takes longer. */
const QUICK_MS = 1

export interface Prefetch {
  /** How many runs may be held beyond the concurrency. */
  size(): number
  /** Tells how many runs ended in how much time, not counting that in which there was nothing to do. */
  ended(count: number, overMs: number): void
  /** Whether so many slots end their runs within less time than a verdict takes to be written; false until a rate is known. */
  isQuick(concurrency: number): boolean
}

/** Follows the rate at which runs really end; a queue of slow work holds nothing that another worker could start. */
export function createPrefetch(): Prefetch {
  let perMs: number | null = null
  /** From one end to the next, as the last look at the rate found it. */
  let gapMs: number | null = null
  let seenInAll = 0
  return {
    size() {
      if (perMs === null) return FIRST_PREFETCH
      return Math.min(MAX_PREFETCH, TRUST * seenInAll, Math.floor(perMs * AHEAD_MS))
    },
    ended(count, overMs) {
      seenInAll += count
      if (count > 0) gapMs = overMs / count
      const seen = count / Math.max(1, overMs)
      // Follows a faster rate at once and a slower one by halves, so that one pause does not empty the buffer.
      perMs = perMs === null || seen > perMs ? seen : (perMs + seen) / 2
    },
    isQuick: (concurrency) => gapMs !== null && concurrency * gapMs <= QUICK_MS,
  }
}
