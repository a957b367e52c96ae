/** Errors that a handler throws to control its run; `settle.ts` decides the verdict. */
import type { Json } from '../json.ts'
import { parseDuration } from '../time/duration.ts'

const millisecondsOf = (duration: string | number): number =>
  parseDuration(typeof duration === 'number' ? `${Math.ceil(duration)}ms` : duration)

/** Throw it to retry the run after a delay, without counting the attempt. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: number

  /** A duration such as `2m`, or milliseconds. */
  constructor(delay: string | number, options?: { readonly cause?: unknown }) {
    const delayMs = millisecondsOf(delay)
    super(`retry after ${delayMs} ms`, options)
    this.delayMs = delayMs
  }
}

export interface DiscardOptions {
  readonly cause?: unknown
  /** Whether to pause the schedule of the run too, with the message as the reason. */
  readonly pauseSchedule?: boolean
}

/** Throw it to fail the run now, without further retries. */
export class Discard extends Error {
  override readonly name: string = 'Discard'
  readonly pauseSchedule: boolean

  constructor(message?: string, options: DiscardOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.pauseSchedule = options.pauseSchedule === true
  }
}

/** Throw it when an external system finishes the work: the run stays `running` without a worker until it is completed, or times out after `wait`. */
export class HandOver extends Error {
  override readonly name = 'HandOver'
  readonly waitMs: number

  /** A duration such as `10m`, or milliseconds. */
  constructor(wait: string | number) {
    const waitMs = millisecondsOf(wait)
    super(`waiting up to ${waitMs} ms for an external completion`)
    this.waitMs = waitMs
  }
}

export interface AttemptFailure {
  readonly code: string
  /** Structured data about the attempt, stored with its error; up to 16 KiB. */
  readonly detail?: Json
  /** The retry delay that the target asked for; the attempt counts. */
  readonly retryInMs?: number
  readonly cause?: unknown
}

/** A failed attempt with a code and details; for targets, not for handlers. */
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

/** Like `AttemptFailed`, for failures that a retry cannot fix. */
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
