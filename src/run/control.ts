/** What a handler throws to steer its own run; what each means for the run is decided in `settle.ts`. */
import { parseDuration } from '../time/duration.ts'

/** Come back later: the run waits and is tried again, and the attempt is not counted. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: number

  /** `2m`, or milliseconds. */
  constructor(delay: string | number, options?: { readonly cause?: unknown }) {
    const delayMs = parseDuration(typeof delay === 'number' ? `${Math.ceil(delay)}ms` : delay)
    super(`try again after ${delayMs} ms`, options)
    this.delayMs = delayMs
  }
}

/** Give up: the run fails now, because trying again would not help. */
export class Discard extends Error {
  override readonly name = 'Discard'
}
