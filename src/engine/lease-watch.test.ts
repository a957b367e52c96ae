import { describe, expect, it } from 'vitest'
import type { Run } from '../run/run.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createLeaseWatch } from './lease-watch.ts'
import { createLeasedRuns } from './leased-runs.ts'

const LEASE = 5000
const RUN = { id: 'a' } as Run

function watched() {
  const clock = fakeClock(0)
  const leasedRuns = createLeasedRuns()
  const lost: [string, number][] = []
  let timer: { at: number; ring: () => void } | null = null
  const timers = {
    set(ms: number, ring: () => void) {
      timer = { at: clock.elapsed() + ms, ring }
      return () => (timer = null)
    },
  }
  const onEvent = ({ kind }: { kind: string }) => lost.push([kind, clock.elapsed()])
  const watch = createLeaseWatch({ clock, timers, leasedRuns, leaseMs: LEASE, onEvent })
  /** Lets time pass as a process does that only its timers wake. */
  const pass = (ms: number): void => {
    const end = clock.elapsed() + ms
    for (let next = timer; next !== null && next.at <= end; next = timer) {
      timer = null
      clock.moveBy(next.at - clock.elapsed())
      next.ring()
    }
    clock.moveBy(end - clock.elapsed())
  }
  return { clock, leasedRuns, lost, watch, pass, isWatching: () => timer !== null }
}

describe('a watch over leases', () => {
  it('ends a lease exactly when it runs out, while nothing answers', () => {
    const { leasedRuns, lost, watch, pass } = watched()
    const leased = leasedRuns.add(RUN, LEASE)
    const { signal } = leased
    watch.begin()
    pass(LEASE - 1)
    expect(signal.aborted).toBe(false)
    pass(1)
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' })
    expect(lost).toEqual([['run.lease_lost', LEASE]])
  })

  it('follows a lease that is renewed, and one that ends before the others', () => {
    const { leasedRuns, lost, watch, pass } = watched()
    const renewed = leasedRuns.add(RUN, LEASE)
    watch.begin()
    pass(LEASE / 2)
    renewed.leaseEndsAt = 2 * LEASE
    leasedRuns.add(RUN, LEASE + 100)
    pass(2 * LEASE)
    expect(lost.map(([, at]) => at)).toEqual([LEASE + 100, 2 * LEASE])
  })

  it('leaves alone what only waits for its result to be written', () => {
    const { leasedRuns, lost, watch, pass } = watched()
    leasedRuns.add(RUN, LEASE).verdict = { kind: 'final', state: 'succeeded', result: null }
    watch.begin()
    pass(2 * LEASE)
    expect(lost).toEqual([])
  })

  it('keeps no timer when nothing is leased', () => {
    const { leasedRuns, watch, pass, isWatching } = watched()
    watch.begin()
    expect(isWatching()).toBe(false)
    const leased = leasedRuns.add(RUN, LEASE)
    watch.begin()
    expect(isWatching()).toBe(true)
    leasedRuns.remove(leased)
    pass(LEASE)
    expect(isWatching()).toBe(false)
  })
})
