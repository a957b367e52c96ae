/** Keeps this worker's leases alive in one write at five ninths of the lease; what ran out here is ended by `lease-watch.ts`. */
import { EverytickError } from '../errors.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { ClaimStore } from '../store/contract/claims.ts'
import type { Clock } from '../time/clock.ts'
import type { BegunCounts } from './begun.ts'
import type { LeaseWatch } from './lease-watch.ts'
import type { LeasedRun, LeasedRuns } from './leased-runs.ts'

/**
 * When a lease is renewed, as a share of its length. Later renewals make shorter leases as cheap, and a short lease is what a killed worker's runs
 * wait for. What is left is time for a renewal that fails and one more try: docs/decisions/0033.
 */
const RENEWED_AT = 5 / 9
/** With so much of its lease left, what only waits to be written needs no renewal before the next pass. */
const RESTING = 2 / 3

export interface LeaseRenewalOptions {
  readonly claims: ClaimStore
  readonly clock: Clock
  readonly leasedRuns: LeasedRuns
  readonly leaseMs: number
  readonly begun: BegunCounts
  readonly leaseWatch: Pick<LeaseWatch, 'check' | 'lose'>
  readonly onEvent: (fact: EngineEvent) => void
}

export interface LeaseRenewal {
  pass(): Promise<number>
  /** Renews these now, for `leaseMs`; answers whether all of them are still ours. */
  renew(leased: readonly LeasedRun[], leaseMs: number): Promise<boolean>
}

export function createLeaseRenewal({
  claims,
  clock,
  leasedRuns,
  leaseMs,
  begun,
  leaseWatch,
  onEvent,
}: LeaseRenewalOptions): LeaseRenewal {
  const renew = async (leased: readonly LeasedRun[], forMs: number): Promise<boolean> => {
    // Measured before the question, so that the local end is never later than the store's.
    const askedAt = clock.elapsed()
    const counts = begun.unreported()
    const renewals = leased.map(({ run, progress }) => ({
      id: run.id,
      fence: run.fence,
      claimId: run.claimId,
      progress,
    }))
    const { lost, cancelling } = await claims.renew(forMs, renewals, counts)
    begun.reported(counts)
    const gone = new Set(lost)
    const unwanted = new Set(cancelling)
    if (leased.length > gone.size) onEvent({ kind: 'leases.renewed', count: leased.length - gone.size })
    for (const grant of leased) {
      if (gone.has(grant.run.id)) leaseWatch.lose(grant)
      else grant.leaseEndsAt = Math.max(grant.leaseEndsAt, askedAt + forMs)
      if (unwanted.has(grant.run.id)) {
        grant.stop('cancelled', new EverytickError('RUN_CANCELLED', `run ${grant.run.id} was cancelled`))
      }
    }
    return gone.size === 0
  }

  /** Its verdict is on the way, and would have to wait for the renewal; only one that might still be on the way at the next pass needs its lease. */
  const isBeingWritten = ({ verdict, leaseEndsAt }: LeasedRun, now: number): boolean =>
    verdict !== null && leaseEndsAt - now > leaseMs * RESTING

  return {
    renew,
    async pass() {
      leaseWatch.check()
      const now = clock.elapsed()
      const renewed = leasedRuns
        .all()
        .filter((leased) => leased.stopped !== 'lease_lost' && !isBeingWritten(leased, now))
      if (renewed.length > 0) await renew(renewed, leaseMs)
      return leaseMs * RENEWED_AT
    },
  }
}
