/** The delay before a retry: exponential or fixed backoff with full jitter; `settle.ts` decides whether to retry. */

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number
  readonly backoff: 'exponential' | 'fixed'
  readonly baseMs: number
  readonly maxMs: number
}

/** Written out in every policy that is stored, so that a later default changes no run that exists. */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 3, backoff: 'exponential', baseMs: 1000, maxMs: 3_600_000 }

/**
 * The pause before the next attempt. Full jitter: anywhere between nothing and the exponential bound, so that attempts
 * that failed together do not come back together. `roll` is a random number in [0, 1).
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, roll: number): number {
  const doublings = policy.backoff === 'exponential' ? Math.min(attempt - 1, 40) : 0
  const bound = Math.min(policy.maxMs, policy.baseMs * 2 ** doublings)
  return Math.floor(roll * (bound + 1))
}
