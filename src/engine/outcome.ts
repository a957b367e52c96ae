/** Names how an attempt ended that did not simply return: by what was thrown, or by what it was told and did not heed. */
import { EverytickError } from '../errors.ts'
import { Discard, RetryAfter } from '../run/control.ts'
import type { Outcome } from '../run/settle.ts'
import type { Held, StopReason } from './grants.ts'
import { runError } from './run-error.ts'

export function outcomeOfThrown({ stopped }: Held, error: unknown): Outcome {
  if (error instanceof RetryAfter) return { kind: 'postponed', delayMs: error.delayMs }
  // JSON_: the work was done, only its result cannot be stored, and doing it again would not help.
  const hopeless = error instanceof Discard || (error instanceof EverytickError && error.code.startsWith('JSON_'))
  if (hopeless) return { kind: 'discarded', error: runError(error) }
  // Work that ends by throwing after it was told to stop has stopped for that reason.
  if (stopped === 'cancelled' || stopped === 'stopping') return unheeded(stopped)
  return { kind: 'threw', error: runError(error) }
}

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
