/**
 * Decides for how long looks may begin further on, where looking from the very beginning of an index has become dear: somebody
 * holds an old snapshot, and the server cannot clear away what has long moved on. Where they begin then is decided by who looks.
 */
import type { Clock } from '../../time/clock.ts'

export interface Rest {
  /** In how many milliseconds a look must be from the beginning; 0 when the next one must. */
  leftMs(): number
  /** After each look from the beginning: by how much it took longer than what it found is worth. */
  looked(excessMs: number): void
}

/** One dear look may be the machine's doing; so many in a row are the table's. */
const DEAR_LOOKS = 5
/** A dear look may be a small share of all looking, but comes at least this often. */
const SHARE = 20
const MAX_REST_MS = 2000

/** Less than `patienceMs` is no reason. Measured by the clock of this process: the database's may stand still, or be set back. */
export function createRest(clock: Pick<Clock, 'elapsed'>, patienceMs: number): Rest {
  let until = Number.NEGATIVE_INFINITY
  /** Dear ones in a row. */
  let dear = 0
  return {
    leftMs: () => Math.max(0, until - clock.elapsed()),
    looked(excessMs) {
      dear = excessMs <= patienceMs ? 0 : dear + 1
      until = dear < DEAR_LOOKS ? Number.NEGATIVE_INFINITY : clock.elapsed() + Math.min(MAX_REST_MS, SHARE * excessMs)
    },
  }
}
