/** Decides what the state of a BullMQ job means for the attempt that waits for it; pure. Looking and waiting are `wait.ts`. */
import type { Json } from '../../json.ts'
import { AttemptDiscarded, AttemptFailed } from '../../run/control.ts'

/** What was seen of the job; `gone` when there is none of that id. */
export type Seen =
  | { readonly state: 'gone' | 'open' }
  | { readonly state: 'completed'; readonly value: unknown }
  | { readonly state: 'failed'; readonly failure: Failure }

export interface Failure {
  readonly reason: string
  readonly stack: string | null
  readonly finishedAt: number | null
  readonly attemptsMade: number
  /** How often BullMQ was told to try. */
  readonly attempts: number
  /** The attempt of ours that added it or set it going again; null when the data does not say. */
  readonly forAttempt: number | null
}

export type Step =
  | { readonly kind: 'wait' }
  /** It failed for an attempt before this one: let BullMQ do it again. */
  | { readonly kind: 'again' }
  | { readonly kind: 'succeeded'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: AttemptFailed | AttemptDiscarded }

export interface Attempt {
  readonly attempt: number
  readonly dueAt: number
  /** The name of BullMQ's queue. */
  readonly queue: string
}

const NAME = 'BullmqJobFailed'
const MAX_REASON = 1000

export function stepOf(seen: Seen, attempt: Attempt): Step {
  switch (seen.state) {
    case 'open':
      return { kind: 'wait' }
    case 'completed':
      return { kind: 'succeeded', result: seen.value }
    case 'gone':
      return { kind: 'failed', error: removed(attempt) }
    case 'failed':
      return { kind: 'failed', error: failed(seen.failure, attempt) }
  }
}

/** The same for what stood there when the attempt began, right after it was added or found. */
export function firstStepOf(seen: Seen, attempt: Attempt): Step {
  if (seen.state === 'failed' && !isOfThis(seen.failure, attempt)) return { kind: 'again' }
  return stepOf(seen, attempt)
}

/**
 * A worker that was stopped gave its attempt back, and the next worker has the same one: what failed in between is its
 * failure. After a retry attempts are counted again, and then the number alone would say the same of what failed long ago.
 */
const isOfThis = ({ forAttempt, finishedAt }: Failure, { attempt, dueAt }: Attempt): boolean =>
  forAttempt === attempt && finishedAt !== null && finishedAt >= dueAt

function failed(
  { reason, stack, attemptsMade, attempts }: Failure,
  { queue }: Attempt,
): AttemptFailed | AttemptDiscarded {
  const text = reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}…` : reason
  const detail: Json = { queue, reason: text, attemptsMade }
  const failure = { code: 'BULLMQ_FAILED', detail }
  // Whoever was told to try several times has done so, and whoever says that trying is no use is believed.
  const isFinal = attempts > 1 || stack?.startsWith('UnrecoverableError') === true
  return isFinal ? new AttemptDiscarded(NAME, text, failure) : new AttemptFailed(NAME, text, failure)
}

const removed = ({ queue }: Attempt): AttemptFailed =>
  new AttemptFailed(NAME, 'the job was removed from the queue of BullMQ before its end was seen', {
    code: 'BULLMQ_REMOVED',
    detail: { queue },
  })
