/** Turns the outcome of an attempt into a verdict, without I/O; the store applies it only while the attempt's fence is current. */
import type { Json } from '../json.ts'
import { retryDelayMs } from './retry.ts'
import type { RunError, RunPolicy } from './run.ts'

/** How an attempt ended, as seen by its worker or the reaper. */
export type Outcome =
  | { readonly kind: 'returned'; readonly result: Json }
  /** `delayMs` replaces the backoff before the next attempt; this attempt counts. */
  | { readonly kind: 'threw'; readonly error: RunError; readonly delayMs?: number }
  /** `Discard`: failed without further retries; `pauseSchedule` is the reason to pause its schedule, if any. */
  | { readonly kind: 'discarded'; readonly error: RunError; readonly pauseSchedule?: string }
  /** `RetryAfter`: the handler asked for a retry after a delay; it does not count as an attempt. */
  | { readonly kind: 'postponed'; readonly delayMs: number }
  | { readonly kind: 'timed_out'; readonly error: RunError }
  /** The lease expired without a renewal. */
  | { readonly kind: 'lost' }
  /** The lease expired before the worker, which had prefetched the run, started it; it does not count as an attempt. */
  | { readonly kind: 'not_begun' }
  /** An uncaught error ended the worker process during the attempt; `isByAnother` when another run is known to have thrown it. */
  | { readonly kind: 'interrupted'; readonly error: RunError; readonly isByAnother: boolean }
  /** An operator cancelled the run, and its handler stopped. */
  | { readonly kind: 'cancelled' }
  /** The worker stopped before the handler ended, or does not have the job; it does not count as an attempt. */
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
  /** `result`: what the handler returned although its signal was aborted. */
  | { readonly kind: 'final'; readonly state: 'cancelled'; readonly result?: Json }
  | {
      readonly kind: 'retry'
      readonly delayMs: number
      /** The run is due when it was before, and keeps its place in the queue; `delayMs` is 0 then. */
      readonly keepsDue?: true
      readonly reason: RetryReason
      /** Whether the ended claim counts as an attempt. */
      readonly counts: boolean
      readonly error: RunError | null
    }

/** The fields of a run that the decision needs. */
export interface Attempted {
  readonly attempt: number
  /** Counts every claim, so fence minus attempt is how often the run returned to its queue uncounted. */
  readonly fence: number
  readonly policy: RunPolicy
  readonly cancelRequested: boolean
}

const LOST: RunError = {
  name: 'LeaseLost',
  message: 'the lease expired because the worker did not renew it',
  code: 'LEASE_LOST',
}

/** An at-most-once attempt started with an unknown outcome, so it is not repeated. */
const ABANDONED: RunError = {
  name: 'Abandoned',
  message: 'the attempt did not end, and a job with delivery at_most_once is not retried',
  code: 'RUN_ABANDONED',
}

/**
 * How often a run returns uncounted before an uncaught error of unknown origin counts as its own. A run that crashes its worker
 * process each time must run out of attempts.
 */
export const MAX_UNCOUNTED = 10

/** Returns the run to its place in the queue, as if it had not been claimed. */
export const RETURNED: Verdict = {
  kind: 'retry',
  delayMs: 0,
  keepsDue: true,
  reason: 'released',
  counts: false,
  error: null,
}

/** Whether a lost attempt could not be retried: then the worker must record its start before it executes it. */
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
      // The attempt did not start, because this worker does not have the job.
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
 * A handler that returns because of its signal has not finished, and one that ignores the signal may have: the run is cancelled,
 * as the operator asked, and the result is kept.
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
