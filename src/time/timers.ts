/** One-shot timers, handed in so that tests can move time; what happens when one rings is the caller's matter. */

export interface Timers {
  /** Calls `ring` once after `ms`, unless the answered function is called first. */
  set(ms: number, ring: () => void): () => void
}

/** Node fires a longer delay at once. */
const MAX_DELAY_MS = 2 ** 31 - 1

export const systemTimers: Timers = {
  set(ms, ring) {
    const timer = setTimeout(ring, Math.min(Math.max(0, ms), MAX_DELAY_MS))
    return () => clearTimeout(timer)
  },
}
