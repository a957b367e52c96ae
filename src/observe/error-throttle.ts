/** Throttles the log lines of a failing loop: the first in full, then one per ten seconds; and decides whether to log its recovery. Pure. */

export const EVERY_MS = 10_000
/** After this time without a failure, the next one is logged in full again. */
const FORGET_MS = 60_000

export type FailureLine =
  /** Logged in full, including the stack. */
  | { readonly kind: 'first' }
  /** Logged in short form, with the number of suppressed failures. */
  | { readonly kind: 'repeated'; readonly unlogged: number }

export interface ErrorThrottle {
  /** Null: not logged. `at` never goes back. */
  failed(where: string, at: number): FailureLine | null
  /** The line was written; the ten seconds start now, not at the failure. */
  logged(where: string, at: number): void
  /** Returns whether a failure was logged without a recovery since. */
  recovered(where: string): boolean
}

interface Seen {
  lastAt: number
  loggedAt: number
  unlogged: number
  isOpen: boolean
}

export function createErrorThrottle(): ErrorThrottle {
  const seen = new Map<string, Seen>()
  return {
    failed(where, at) {
      const known = seen.get(where)
      if (!known || at - known.lastAt >= FORGET_MS) {
        seen.set(where, { lastAt: at, loggedAt: at, unlogged: 0, isOpen: true })
        return { kind: 'first' }
      }
      known.lastAt = at
      if (at - known.loggedAt < EVERY_MS) {
        known.unlogged++
        return null
      }
      const { unlogged } = known
      Object.assign(known, { loggedAt: at, unlogged: 0, isOpen: true })
      return { kind: 'repeated', unlogged }
    },
    logged(where, at) {
      const known = seen.get(where)
      if (known) known.loggedAt = at
    },
    recovered(where) {
      const known = seen.get(where)
      if (!known?.isOpen) return false
      known.isOpen = false
      return true
    },
  }
}
