/** Ends leases by the worker's own clock, exactly when they run out, whatever the database or the network does; renewing them is `lease-renewal.ts`. */
import { EverytickError } from '../errors.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { LeasedRun, LeasedRuns } from './leased-runs.ts'

export interface LeaseWatchOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly leasedRuns: LeasedRuns
  readonly leaseMs: number
  readonly onEvent: (fact: EngineEvent) => void
}

export interface LeaseWatch {
  /** Call it after a claim: keeps a timer for as long as a run is leased. */
  begin(): void
  /** Ends the leases that have run out. */
  check(): void
  /** Ends one lease, because the store says so. */
  lose(leased: LeasedRun): void
  stop(): void
}

export function createLeaseWatch({ clock, timers, leasedRuns, leaseMs, onEvent }: LeaseWatchOptions): LeaseWatch {
  let cancelTimer: (() => void) | null = null
  let stopped = false

  const lose = (leased: LeasedRun): void => {
    // The work is over. Its result is on its way, and the store refuses it if it comes too late.
    if (leased.verdict || leased.leaving) return
    const { run } = leased
    const message = `the lease of run ${run.id} expired; another worker may execute it, and the result of this attempt will be rejected`
    const error = new EverytickError('LEASE_LOST', message, {
      hint: 'block the event loop less, call ctx.extendLease(), or check the connection to the database',
    })
    if (leased.stop('lease_lost', error)) onEvent({ kind: 'run.lease_lost', run })
  }

  const check = (): void => {
    const now = clock.elapsed()
    for (const leased of leasedRuns.all()) if (leased.leaseEndsAt <= now) lose(leased)
  }

  const watch = (): void => {
    cancelTimer = null
    if (stopped) return
    check()
    const now = clock.elapsed()
    const ends = leasedRuns.all().flatMap(({ leaseEndsAt }) => (leaseEndsAt > now ? [leaseEndsAt] : []))
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
