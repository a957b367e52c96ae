/**
 * Decides for how long looks may begin further on, where looking from the very beginning of an index has become expensive: somebody
 * holds an old snapshot, and the server cannot clear away what has long moved on. Where they begin then is decided by who looks.
 */
import type { Clock } from '../../time/clock.ts'

export interface Scan {
  /** Entries of the index that the server read; none where it was told not to count. */
  readonly read: number
  /** Those among them that were looked for. */
  readonly found: number
}

export interface ScanBackoff {
  /** In how many milliseconds a look must be from the beginning; 0 when the next one must. */
  leftMs(): number
  /** After each look from the beginning. */
  looked(look: Scan): void
}

/** So many are no reason to begin elsewhere, and so many more for each that was found: others look too, and are cleared away behind. */
const FEW = 2000
const FEW_EACH = 20
/** What is left after a burst goes with the first looks that come across it; what so many in a row came across stays. */
const EXPENSIVE_SCANS = 5
/** Passing over an entry takes about this much. They are counted, not timed: what is expensive is so on a quick machine too. */
const PASSED_MS = 0.0002
/** A expensive look may be a small share of all looking, but comes at least this often. */
const SHARE = 20
const MAX_BACKOFF_MS = 2000

/**
 * SQL for how many entries of an index the server has read, for the difference within one statement: in between it may begin
 * again. Nothing fails for want of the index.
 */
export const entriesRead = (index: string): string =>
  `coalesce(pg_stat_get_xact_tuples_returned(to_regclass('${index}')), 0)`

/** Measured by the clock of this process: the database's may stand still, or be set back. */
export function createScanBackoff(clock: Pick<Clock, 'elapsed'>): ScanBackoff {
  let until = Number.NEGATIVE_INFINITY
  /** Dear ones in a row. */
  let dear = 0
  return {
    leftMs: () => Math.max(0, until - clock.elapsed()),
    looked({ read, found }) {
      const passed = read - found
      dear = passed <= FEW + FEW_EACH * found ? 0 : dear + 1
      const backoffMs = Math.min(MAX_BACKOFF_MS, SHARE * PASSED_MS * passed)
      until = dear < EXPENSIVE_SCANS ? Number.NEGATIVE_INFINITY : clock.elapsed() + backoffMs
    },
  }
}
