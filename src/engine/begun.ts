/** Counts, for every claim that a worker made ahead, how many of its runs have begun, and what the store does not know of yet; when a run begins is decided by `worker.ts`. */
import type { BegunCount } from '../store/contract/claims.ts'
import type { Clock } from '../time/clock.ts'

/** A claim of which not all runs begin at once. */
export interface AheadClaim {
  readonly claimId: string
  readonly size: number
  /** Runs up to here have begun. */
  begun: number
  /** Runs up to here are begun as far as the store knows, so that a run below it may begin even if it could not be tried again. */
  known: number
}

export interface BegunCounts {
  add(claim: Omit<AheadClaim, 'begun'>): AheadClaim
  /** What a write may take along; nothing when one took it shortly before. */
  unreported(): readonly BegunCount[]
  /** After a write that took these along. */
  reported(counts: readonly BegunCount[]): void
}

/** A late count costs nothing but an attempt that is not counted, so that a busy worker need not send one with every write. */
const PAUSE_MS = 100

export function createBegunCounts(clock: Pick<Clock, 'elapsed'>): BegunCounts {
  const claims = new Map<string, AheadClaim>()
  let askedAt = Number.NEGATIVE_INFINITY
  return {
    add(claim) {
      const ahead = { ...claim, begun: 0 }
      claims.set(claim.claimId, ahead)
      return ahead
    },
    unreported() {
      if (claims.size === 0) return []
      const now = clock.elapsed()
      if (now - askedAt < PAUSE_MS) return []
      askedAt = now
      const counts: BegunCount[] = []
      for (const { claimId, begun, known } of claims.values()) if (begun > known) counts.push({ claimId, count: begun })
      return counts
    },
    reported(counts) {
      for (const { claimId, count } of counts) {
        const claim = claims.get(claimId)
        if (claim === undefined) continue
        claim.known = Math.max(claim.known, count)
        if (claim.known >= claim.size) claims.delete(claimId)
      }
    },
  }
}
