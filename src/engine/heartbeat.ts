/** Keeps this worker's leases alive in one write at a third of the lease, and tells work to stop when its lease is gone. */
import { EverytickError } from '../errors.ts'
import type { Fact } from '../observe/fact.ts'
import type { ClaimStore } from '../store/contract/claims.ts'
import type { Clock } from '../time/clock.ts'
import type { Grants, Held } from './grants.ts'

export interface HeartbeatOptions {
  readonly claims: ClaimStore
  readonly clock: Clock
  readonly grants: Grants
  readonly leaseMs: number
  readonly onFact: (fact: Fact) => void
}

export interface Heartbeat {
  pass(): Promise<number>
  /** Renews these now, for `leaseMs`; answers whether all of them are still ours. */
  renew(held: readonly Held[], leaseMs: number): Promise<boolean>
}

export function createHeartbeat({ claims, clock, grants, leaseMs, onFact }: HeartbeatOptions): Heartbeat {
  const lose = (held: Held): void => {
    // A verdict, or a hand-over, that was written while we asked is no lease lost; what came too late will be refused, and say so.
    if (held.verdict || held.leaving) return
    const { run } = held
    const message = `the lease of run ${run.id} ended; another worker may hold it, and this result will be refused`
    const error = new EverytickError('LEASE_LOST', message, {
      hint: 'block the event loop less, or call ctx.extendLease()',
    })
    if (held.stop('lease_lost', error)) onFact({ kind: 'run.lease_lost', run })
  }

  const renew = async (held: readonly Held[], forMs: number): Promise<boolean> => {
    // Measured before the question, so that the local end is never later than the store's.
    const askedAt = clock.elapsed()
    const renewals = held.map(({ run, progress }) => ({ id: run.id, fence: run.fence, progress }))
    const { lost, cancelling } = await claims.renew(forMs, renewals)
    const gone = new Set(lost)
    const unwanted = new Set(cancelling)
    if (held.length > gone.size) onFact({ kind: 'leases.renewed', count: held.length - gone.size })
    for (const grant of held) {
      if (gone.has(grant.run.id)) lose(grant)
      else grant.leaseEndsAt = Math.max(grant.leaseEndsAt, askedAt + forMs)
      if (unwanted.has(grant.run.id)) {
        grant.stop('cancelled', new EverytickError('RUN_CANCELLED', `run ${grant.run.id} was cancelled`))
      }
    }
    return gone.size === 0
  }

  /** Its verdict is on the way, and would have to wait for the renewal; only one that is long on the way needs its lease. */
  const isBeingWritten = ({ verdict, leaseEndsAt }: Held, now: number): boolean =>
    verdict !== null && leaseEndsAt - now > leaseMs / 2

  return {
    renew,
    async pass() {
      const startedAt = clock.elapsed()
      const open = grants.all().filter(({ stopped }) => stopped !== 'lease_lost')
      const renewed = open.filter((held) => !isBeingWritten(held, startedAt))
      try {
        if (renewed.length > 0) await renew(renewed, leaseMs)
      } finally {
        // Also when the store is away: a lease that ran out here is nobody's promise any more.
        const now = clock.elapsed()
        for (const grant of open) if (grant.leaseEndsAt <= now) lose(grant)
      }
      return leaseMs / 3
    },
  }
}
