/** Ends leases by the worker's own clock, exactly when they run out, whatever the database or the network does; renewing them is `heartbeat.ts`. */
import { EverytickError } from '../errors.ts'
import type { Fact } from '../observe/fact.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { Grants, Held } from './grants.ts'

export interface LeaseWatchOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly grants: Grants
  readonly leaseMs: number
  readonly onFact: (fact: Fact) => void
}

export interface LeaseWatch {
  /** Call it after a claim: keeps a timer for as long as a run is leased. */
  begin(): void
  /** Ends the leases that have run out. */
  check(): void
  /** Ends one lease, because the store says so. */
  lose(held: Held): void
  stop(): void
}

export function createLeaseWatch({ clock, timers, grants, leaseMs, onFact }: LeaseWatchOptions): LeaseWatch {
  let cancelTimer: (() => void) | null = null
  let stopped = false

  const lose = (held: Held): void => {
    // The work is over. Its result is on its way, and the store refuses it if it comes too late.
    if (held.verdict || held.leaving) return
    const { run } = held
    const message = `the lease of run ${run.id} ended; another worker may hold it, and this result will be refused`
    const error = new EverytickError('LEASE_LOST', message, {
      hint: 'block the event loop less, call ctx.extendLease(), or check the connection to the database',
    })
    if (held.stop('lease_lost', error)) onFact({ kind: 'run.lease_lost', run })
  }

  const check = (): void => {
    const now = clock.elapsed()
    for (const held of grants.all()) if (held.leaseEndsAt <= now) lose(held)
  }

  const watch = (): void => {
    cancelTimer = null
    if (stopped) return
    check()
    const now = clock.elapsed()
    const ends = grants.all().flatMap(({ leaseEndsAt }) => (leaseEndsAt > now ? [leaseEndsAt] : []))
    // Nothing is leased: the next claim begins again. Otherwise a claim may bring a lease that ends before those known now.
    if (ends.length === 0) return
    const nextMs = ends.reduce((least, end) => Math.min(least, end - now), leaseMs / 10)
    cancelTimer = timers.set(nextMs, watch)
  }

  return {
    begin() {
      if (cancelTimer === null) watch()
    },
    check,
    lose,
    stop() {
      stopped = true
      cancelTimer?.()
    },
  }
}
