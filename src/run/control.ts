/** What a handler throws to steer its own run; what each means for the run is decided in `settle.ts`. */
import type { Json } from '../json.ts'
import { parseDuration } from '../time/duration.ts'

const millisecondsOf = (duration: string | number): number =>
  parseDuration(typeof duration === 'number' ? `${Math.ceil(duration)}ms` : duration)

/** Come back later: the run waits and is tried again, and the attempt is not counted. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: number

  /** `2m`, or milliseconds. */
  constructor(delay: string | number, options?: { readonly cause?: unknown }) {
    const delayMs = millisecondsOf(delay)
    super(`try again after ${delayMs} ms`, options)
    this.delayMs = delayMs
  }
}

export interface DiscardOptions {
  readonly cause?: unknown
  /** Whether the schedule that made the run is paused too, with the message as the reason. */
  readonly pauseSchedule?: boolean
}

/** Give up: the run fails now, because trying again would not help. */
export class Discard extends Error {
  override readonly name: string = 'Discard'
  readonly pauseSchedule: boolean

  constructor(message?: string, options: DiscardOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.pauseSchedule = options.pauseSchedule === true
  }
}

/** The work goes on elsewhere: the run stays running without a worker until somebody completes it, or this time is over. */
export class HandOver extends Error {
  override readonly name = 'HandOver'
  readonly waitMs: number

  /** `10m`, or milliseconds. */
  constructor(wait: string | number) {
    const waitMs = millisecondsOf(wait)
    super(`waits ${waitMs} ms to be completed from outside`)
    this.waitMs = waitMs
  }
}

export interface AttemptFailure {
  readonly code: string
  /** What is worth keeping of the attempt besides words; stored with its error, up to 16 KiB. */
  readonly detail?: Json
  /** When whoever refused the work said to come back; the attempt is counted all the same. */
  readonly retryInMs?: number
  readonly cause?: unknown
}

/** An attempt of a target that failed in a way it can describe; for targets, not for handlers. */
export class AttemptFailed extends Error {
  override readonly name: string
  readonly code: string
  readonly detail: Json
  readonly retryInMs: number | null

  constructor(name: string, message: string, { code, detail = null, retryInMs, cause }: AttemptFailure) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = name
    this.code = code
    this.detail = detail
    this.retryInMs = retryInMs ?? null
  }
}

/** The same for failures that trying again would not mend. */
export class AttemptDiscarded extends Discard {
  override readonly name: string
  readonly code: string
  readonly detail: Json

  constructor(name: string, message: string, options: AttemptFailure & DiscardOptions) {
    super(message, options)
    this.name = name
    this.code = options.code
    this.detail = options.detail ?? null
  }
}
