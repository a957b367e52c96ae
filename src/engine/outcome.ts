/** Names how an attempt ended that did not simply return: by what was thrown, or by what it was told and did not heed. */
import { EverytickError } from '../errors.ts'
import { AttemptFailed, Discard, HandOver, RetryAfter } from '../run/control.ts'
import type { Ended, Outcome } from '../run/settle.ts'
import type { LeasedRun, StopReason } from './leased-runs.ts'
import { runError } from './run-error.ts'

/** Of the reason for a pause, which people read in lists. */
const MAX_REASON = 500

export function outcomeOfThrown({ stopped }: LeasedRun, error: unknown): Ended {
  if (error instanceof RetryAfter) return { kind: 'postponed', delayMs: error.delayMs }
  // Also by a worker that is stopping: what was handed over goes on without it.
  if (error instanceof HandOver) {
    return stopped === 'cancelled' ? unheeded(stopped) : { kind: 'handed_over', waitMs: error.waitMs }
  }
  // JSON_: the work was done, only its result cannot be stored, and doing it again would not help.
  const hopeless = error instanceof Discard || (error instanceof EverytickError && error.code.startsWith('JSON_'))
  if (hopeless) return discarded(error)
  // Work that ends by throwing after it was told to stop has stopped for that reason.
  if (stopped === 'cancelled' || stopped === 'stopping') return unheeded(stopped)
  if (stopped === 'timed_out') {
    return error instanceof AttemptFailed ? { kind: 'timed_out', error: runError(error) } : unheeded(stopped)
  }
  const delayMs = error instanceof AttemptFailed ? error.retryInMs : null
  return { kind: 'threw', error: runError(error), ...(delayMs === null ? {} : { delayMs }) }
}

function discarded(thrown: unknown): Outcome {
  const error = runError(thrown)
  const pauses = thrown instanceof Discard && thrown.pauseSchedule
  return { kind: 'discarded', error, ...(pauses ? { pauseSchedule: reasonOf(error.message) } : {}) }
}

/** As it can be stored, whatever the message was made of. */
const reasonOf = (message: string): string =>
  message.slice(0, MAX_REASON).replaceAll(/\0|\p{Surrogate}/gu, '\ufffd') || 'its job discarded the run'

/** How the attempt ends when the handler does not heed its signal. A timeout ends at once: the next attempt is fenced anyway. */
export function unheeded(reason: StopReason): Outcome {
  switch (reason) {
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'stopping':
      return { kind: 'released', delayMs: 0, why: 'stopping' }
    case 'lease_lost':
      return { kind: 'lost' }
    case 'timed_out':
      return {
        kind: 'timed_out',
        error: { name: 'EverytickError', message: 'the attempt took longer than its timeout', code: 'RUN_TIMEOUT' },
      }
  }
}
