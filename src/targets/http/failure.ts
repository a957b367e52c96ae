/** Names, purely, what a call that got no answer, or was not made, means for its attempt and for its host. */
import { EverytickError } from '../../errors.ts'
import { AttemptDiscarded, AttemptFailed, RetryAfter } from '../../run/control.ts'
import { stableHash } from '../../schedule/stable-hash.ts'
import type { Health } from './breaker.ts'
import { transportFailure } from './transport.ts'

/** What the attempt ends with: the reason for which it was told to stop, or what kept the answer from coming. */
export function failureOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof AttemptFailed || error instanceof AttemptDiscarded) return error
  if (isRefusal(error)) return refusedCall(error)
  const { reason, message } = transportFailure(error)
  return new AttemptFailed('HttpError', message, { code: 'HTTP_TRANSPORT', detail: { status: 0, reason } })
}

export interface RetryDelay {
  readonly signal: AbortSignal
  /** How long the call took. */
  readonly tookMs: number
  /** What the job gives an attempt; a schedule may give less. */
  readonly timeoutMs: number
}

/** A host that is silent for so long is as little use as one that is down. */
const SILENT_MS = 5000

/** Who gives a host no time learns nothing of it, and what we broke off ourselves says nothing either. */
export function healthOfFailure(error: unknown, { signal, tookMs, timeoutMs }: RetryDelay): Health {
  if (signal.aborted) {
    // Half: an attempt has other things to do and to wait for.
    return isTimeout(signal.reason) && tookMs >= Math.min(SILENT_MS, timeoutMs / 2) ? 'unwell' : 'unknown'
  }
  return isRefusal(error) || error instanceof AttemptDiscarded ? 'unknown' : 'unwell'
}

export interface SentAway {
  readonly id: string
  readonly attempt: number
  readonly fence: number
}

/** So often a run comes back without that this costs it an attempt: for some ten minutes. */
export const MAX_SENT_AWAY = 50
/** So that those who were sent away do not all come back at once. */
const SPREAD_MS = 5000

/** Nobody was called, so it does not count as an attempt; but a run must end at some time, also when its host never gets well. */
export function sentAway({ id, attempt, fence }: SentAway, backoffMs: number): RetryAfter | AttemptFailed {
  const retryInMs = Math.ceil(backoffMs) + 1 + (stableHash(id) % SPREAD_MS)
  // The fence grows with every attempt, `attempt` only with those that count.
  if (fence - attempt < MAX_SENT_AWAY) return new RetryAfter(retryInMs)
  return new AttemptFailed('HttpError', RESTING, { code: 'HTTP_CIRCUIT_OPEN', retryInMs })
}

export const RESTING = 'the host failed again and again, and is left in peace for a while'

export const isTimeout = (reason: unknown): boolean => reason instanceof EverytickError && reason.code === 'RUN_TIMEOUT'
export const isRefusal = (error: unknown): error is EverytickError =>
  error instanceof EverytickError && error.code === 'TARGET_REFUSED'

/** The guard's words have no address in them; the name may lead elsewhere tomorrow, but not in a minute. */
export const refusedCall = ({ message, code }: EverytickError): AttemptDiscarded =>
  new AttemptDiscarded('HttpError', message, { code })
