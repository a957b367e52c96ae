/** Decides, purely, which of many failures of the same loop become log lines: the first whole, then one in ten seconds; and whether its recovery is worth one. */

export const EVERY_MS = 10_000
/** After so long without a failure the next is a new one, and shown whole. */
const FORGET_MS = 60_000

export type FailureLine =
  /** Logged with all there is, such as the stack. */
  | { readonly kind: 'first' }
  /** Logged short; so many in between were not logged. */
  | { readonly kind: 'repeated'; readonly unlogged: number }

export interface ErrorThrottle {
  /** Null: not logged. `at` never goes back. */
  failed(where: string, at: number): FailureLine | null
  /** The line is written: the next may follow ten seconds after this, and not after the failure. */
  logged(where: string, at: number): void
  /** Answers whether a failure was logged that no recovery has followed. */
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
