/** Decides, purely, what an answer means for the run that was called for, and what it says of the health of its host; the table is in docs/reference/targets.md. */
import type { Health } from './breaker.ts'
import { retryAfterMs } from './retry-after.ts'

export interface Answer {
  readonly status: number
  /** With names in small letters. */
  readonly headers: Readonly<Record<string, string>>
}

export type Meaning =
  | { readonly kind: 'succeeded' }
  /** The work goes on there, and somebody will complete the run. */
  | { readonly kind: 'handed_over' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly retryInMs: number | null }
  /** Trying again would not help; `pauses` says whether the schedule should stop calling. */
  | { readonly kind: 'discarded'; readonly code: string; readonly message: string; readonly pauses: boolean }

export interface HowToRead {
  /** By our clock, for a `Retry-After` that is a date. */
  readonly now: number
  /** Whether a 202 can leave the run open. */
  readonly async: boolean
}

const ACCEPTED = 202
const GONE = 410
const MAY_SAY_WHEN = new Set([429, 503])

/**
 * The request itself was refused, and the next attempt sends the same again. Not among them: 401, 403, 404 and 409, which
 * also mean a deployment in flight, a key that is being changed, or a lock that somebody holds.
 */
const HOPELESS = new Set([400, 405, 406, 411, 413, 414, 415, 422, 431, 451, 501, 505])

export function meaningOf({ status, headers }: Answer, { now, async }: HowToRead): Meaning {
  const code = `HTTP_${status}`
  const message = `the endpoint answered ${status}`
  if (status >= 200 && status < 300) {
    return { kind: async && status === ACCEPTED && isAsync(headers) ? 'handed_over' : 'succeeded' }
  }
  if (status === GONE)
    return { kind: 'discarded', code, message: `${message}: the resource is gone permanently`, pauses: true }
  if (HOPELESS.has(status)) return { kind: 'discarded', code, message, pauses: false }
  if (status < 400) {
    return { kind: 'failed', code, message: `${message}, and the limit of redirects is reached`, retryInMs: null }
  }
  const told = { retryAfter: headers['retry-after'], date: headers.date }
  return { kind: 'failed', code, message, retryInMs: MAY_SAY_WHEN.has(status) ? retryAfterMs(told, now) : null }
}

/** What the header says counts before what `Location` suggests. */
function isAsync(headers: Answer['headers']): boolean {
  const said = headers['everytick-async']?.trim().toLowerCase()
  return said === 'true' || (said !== 'false' && headers.location !== undefined)
}

/** A 500 is the fault of one endpoint; these are said by a host, or by what stands before it, that can serve nobody. */
const UNWELL = new Set([502, 503, 504])

export const healthOf = (status: number): Health => (UNWELL.has(status) ? 'unwell' : 'well')
