/** Turns the outcome of an attempt into a verdict, purely; the store applies it only while the attempt's fence is current. */
import type { Json } from '../json.ts'
import { retryDelayMs } from './retry.ts'
import type { RunError, RunPolicy } from './run.ts'

/** How an attempt ended, as its worker or the reaper saw it. */
export type Outcome =
  | { readonly kind: 'returned'; readonly result: Json }
  /** With `delayMs` the next attempt comes after that instead of after the backoff; this one counts all the same. */
  | { readonly kind: 'threw'; readonly error: RunError; readonly delayMs?: number }
  /** `Discard`: failed, and trying again would not help; with `pauseSchedule`, the reason for which its schedule is paused. */
  | { readonly kind: 'discarded'; readonly error: RunError; readonly pauseSchedule?: string }
  /** `RetryAfter`: the work asked to come back later; it does not count as an attempt. */
  | { readonly kind: 'postponed'; readonly delayMs: number }
  | { readonly kind: 'timed_out'; readonly error: RunError }
  /** The lease ended and nobody renewed it. */
  | { readonly kind: 'lost' }
  /** The lease ended before the worker that had claimed the run ahead began it; it does not count as an attempt. */
  | { readonly kind: 'not_begun' }
  /** An error that no code caught ended the worker process while the work went on; `isByAnother` when another run is known to have thrown it. */
  | { readonly kind: 'interrupted'; readonly error: RunError; readonly isByAnother: boolean }
  /** An operator asked for it, and the work stopped. */
  | { readonly kind: 'cancelled' }
  /** The worker stopped before the work was done, or cannot do it; it does not count as an attempt. */
  | { readonly kind: 'released'; readonly delayMs: number; readonly why: 'stopping' | 'unknown_job' }

/** How an attempt ended for its worker: by an outcome, or by `HandOver`, where nothing is settled yet. */
export type Ended = Outcome | { readonly kind: 'handed_over'; readonly waitMs: number }

export type RetryReason = 'retry' | 'lost' | 'timed_out' | 'postponed' | 'released' | 'unknown_job'

export type Verdict =
  | { readonly kind: 'final'; readonly state: 'succeeded'; readonly result: Json }
  | {
      readonly kind: 'final'
      readonly state: 'failed'
      readonly error: RunError
      /** The schedule that made the run is to be paused, for this reason. */
      readonly pauseSchedule?: string
    }
  /** `result`: what the handler returned although it was told to stop. */
  | { readonly kind: 'final'; readonly state: 'cancelled'; readonly result?: Json }
  | {
      readonly kind: 'retry'
      readonly delayMs: number
      /** The run is due when it was before, and keeps its place in the queue; `delayMs` is 0 then. */
      readonly keepsDue?: true
      readonly reason: RetryReason
      /** Whether the claim just ended counts against the attempts allowed. */
      readonly counts: boolean
      readonly error: RunError | null
    }

/** What the decision needs to know of the run. */
export interface Attempted {
  readonly attempt: number
  /** Counts every claim; so fence minus attempt is how often the run went back uncounted. */
  readonly fence: number
  readonly policy: RunPolicy
  readonly cancelRequested: boolean
}

const LOST: RunError = { name: 'LeaseLost', message: 'the lease ended and nobody renewed it', code: 'LEASE_LOST' }

/** Work that may happen at most once began, and nobody can say how far it came: so it is not begun again. */
const ABANDONED: RunError = {
  name: 'Abandoned',
  message: 'the attempt did not end, and a job that runs at most once is not tried again',
  code: 'RUN_ABANDONED',
}

/**
 * So often a run goes back uncounted before an error of unknown origin counts as its own: a run that ends its worker process each time
 * must run out of attempts.
 */
export const MAX_UNCOUNTED = 10

/** Back to its place in the queue, as if nobody had claimed it. */
export const RETURNED: Verdict = {
  kind: 'retry',
  delayMs: 0,
  keepsDue: true,
  reason: 'released',
  counts: false,
  error: null,
}

/** Whether an attempt that is lost could not be followed by another: the store must know that it begins before it does. */
export const isLastAttempt = ({ attempt, policy }: Pick<Attempted, 'attempt' | 'policy'>): boolean =>
  policy.delivery === 'at_most_once' || attempt >= policy.retry.attempts

/** `roll` is a random number in [0, 1), for the jitter of the backoff. */
export function settle(run: Attempted, outcome: Outcome, roll: number): Verdict {
  if (outcome.kind === 'not_begun') return run.cancelRequested ? { kind: 'final', state: 'cancelled' } : RETURNED
  if (run.policy.delivery === 'at_most_once') return settleOnce(run, outcome)
  switch (outcome.kind) {
    case 'returned':
      return finish(run, outcome.result)
    case 'discarded':
      return discard(outcome)
    case 'cancelled':
      return { kind: 'final', state: 'cancelled' }
    case 'postponed':
      if (run.cancelRequested) return { kind: 'final', state: 'cancelled' }
      return { kind: 'retry', delayMs: outcome.delayMs, reason: 'postponed', counts: false, error: null }
    case 'released': {
      if (run.cancelRequested) return { kind: 'final', state: 'cancelled' }
      const reason = outcome.why === 'unknown_job' ? 'unknown_job' : 'released'
      return { kind: 'retry', delayMs: outcome.delayMs, reason, counts: false, error: null }
    }
    case 'interrupted':
      return interrupted(run, outcome, roll)
    case 'threw':
      return retryOrFail(run, outcome.error, { reason: 'retry', roll, delayMs: outcome.delayMs })
    case 'timed_out':
      return retryOrFail(run, outcome.error, { reason: 'timed_out', roll })
    case 'lost':
      return retryOrFail(run, LOST, { reason: 'lost', roll })
  }
}

function settleOnce(run: Attempted, outcome: Exclude<Outcome, { kind: 'not_begun' }>): Verdict {
  switch (outcome.kind) {
    case 'returned':
      return finish(run, outcome.result)
    case 'cancelled':
      return { kind: 'final', state: 'cancelled' }
    case 'discarded':
      return run.cancelRequested ? { kind: 'final', state: 'cancelled' } : discard(outcome)
    case 'threw':
    case 'timed_out':
      return failOnce(run, outcome.error)
    case 'released':
      // A job that this worker does not know was not begun.
      if (outcome.why === 'unknown_job' && !run.cancelRequested) {
        return { kind: 'retry', delayMs: outcome.delayMs, reason: 'unknown_job', counts: false, error: null }
      }
      return failOnce(run, ABANDONED)
    case 'postponed':
    case 'lost':
    case 'interrupted':
      return failOnce(run, ABANDONED)
  }
}

/**
 * A handler that heeds its signal by returning has not done its work, and one that ignores the signal may have: the run is
 * what the operator asked for, and the result is kept.
 */
const finish = ({ cancelRequested }: Attempted, result: Json): Verdict =>
  cancelRequested ? { kind: 'final', state: 'cancelled', result } : { kind: 'final', state: 'succeeded', result }

const discard = ({ error, pauseSchedule }: Extract<Outcome, { kind: 'discarded' }>): Verdict => ({
  kind: 'final',
  state: 'failed',
  error,
  ...(pauseSchedule === undefined ? {} : { pauseSchedule }),
})

const failOnce = (run: Attempted, error: RunError): Verdict =>
  run.cancelRequested ? { kind: 'final', state: 'cancelled' } : { kind: 'final', state: 'failed', error }

function interrupted(run: Attempted, outcome: Extract<Outcome, { kind: 'interrupted' }>, roll: number): Verdict {
  const { error, isByAnother } = outcome
  const isSuspect = !isByAnother && run.fence - run.attempt >= MAX_UNCOUNTED
  if (isSuspect) return retryOrFail(run, error, { reason: 'lost', roll })
  if (run.cancelRequested) return { kind: 'final', state: 'cancelled' }
  return { kind: 'retry', delayMs: 0, reason: 'released', counts: false, error }
}

interface How {
  readonly reason: RetryReason
  readonly roll: number
  readonly delayMs?: number | undefined
}

function retryOrFail(run: Attempted, error: RunError, { reason, roll, delayMs }: How): Verdict {
  if (run.cancelRequested) return { kind: 'final', state: 'cancelled' }
  const retry = run.policy.retry
  if (run.attempt >= retry.attempts) return { kind: 'final', state: 'failed', error }
  return { kind: 'retry', delayMs: delayMs ?? retryDelayMs(retry, run.attempt, roll), reason, counts: true, error }
}
