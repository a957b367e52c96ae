import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Store } from '../store/contract/store.ts'
import { openSqlite } from '../store/sqlite/store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { systemTimers } from '../time/timers.ts'
import { createBegunCounts } from './begun.ts'
import { createLeaseRenewal } from './lease-renewal.ts'
import { createLeaseWatch } from './lease-watch.ts'
import { createLeasedRuns, type LeasedRun } from './leased-runs.ts'

const LEASE = 9000
const clock = fakeClock(1_000_000)
let store: Store
let facts: EngineEvent[]
beforeEach(async () => {
  store = await openSqlite({ path: ':memory:', clock })
  facts = []
})
afterEach(() => store.close())

async function granted() {
  const policy = { retry: { attempts: 3, backoff: 'fixed', baseMs: 0, maxMs: 0 } } as const
  const run = { id: '01890000-0000-7000-8000-000000000001', workspace: 'default', job: 'job', queue: 'default' }
  const rest = {
    trigger: 'enqueue',
    priority: 5,
    payload: null,
    schedule: null,
    slot: null,
    group: null,
    overlap: 'allow',
    due: { delayMs: 0 },
    idempotencyKey: null,
  } as const
  await store.runs.enqueue([{ ...run, ...rest, policy }])
  const { runs } = await store.claims.claim({ workerId: 'w', leaseMs: LEASE, wanted: [{ queue: 'default', limit: 1 }] })
  const leasedRuns = createLeasedRuns()
  const onEvent = (fact: EngineEvent) => facts.push(fact)
  const leaseWatch = createLeaseWatch({ clock, timers: systemTimers, leasedRuns, leaseMs: LEASE, onEvent })
  const begun = createBegunCounts(clock)
  const heartbeat = createLeaseRenewal({
    claims: store.claims,
    clock,
    leasedRuns,
    leaseMs: LEASE,
    begun,
    leaseWatch,
    onEvent,
  })
  return { leased: leasedRuns.add(runs[0]!, clock.elapsed() + LEASE), heartbeat }
}

const settle = ({ run }: LeasedRun) =>
  store.claims.settle([
    {
      id: run.id,
      fence: run.fence,
      claimId: run.claimId,
      workerId: 'w',
      verdict: { kind: 'final', state: 'succeeded', result: null },
    },
  ])

describe('a heartbeat', () => {
  it('keeps a lease beyond its length', async () => {
    const { leased, heartbeat } = await granted()
    for (let i = 0; i < 9; i++) {
      clock.moveBy(Math.floor(await heartbeat.pass()))
    }
    expect(leased.stopped).toBeNull()
    expect(await store.claims.expired(10)).toEqual([])
  })

  it('renews at five ninths of the lease, and what only waits to be written while it has little left', async () => {
    const { leased, heartbeat } = await granted()
    expect(await heartbeat.pass()).toBe((LEASE * 5) / 9)
    leased.verdict = { kind: 'final', state: 'succeeded', result: null }
    facts = []
    clock.moveBy(LEASE * 0.3)
    await heartbeat.pass()
    expect(facts).toEqual([])
    clock.moveBy(LEASE * 0.1)
    await heartbeat.pass()
    expect(facts).toEqual([{ kind: 'leases.renewed', count: 1 }])
  })

  it('tells the work to stop when the grant is gone', async () => {
    const { leased, heartbeat } = await granted()
    await settle(leased)
    await heartbeat.pass()
    expect(leased.stopped).toBe('lease_lost')
    expect(facts.map(({ kind }) => kind)).toEqual(['run.lease_lost'])
    expect(leased.signal.reason).toMatchObject({ code: 'LEASE_LOST' })
  })

  it('does not take a verdict that was just written for a lease that was lost', async () => {
    const { leased, heartbeat } = await granted()
    leased.verdict = { kind: 'final', state: 'succeeded', result: null }
    clock.moveBy(LEASE * 0.6)
    await settle(leased)
    await heartbeat.pass()
    expect(facts).toEqual([])
  })

  it('renews a verdict that is on its way only when it is long on its way', async () => {
    const { leased, heartbeat } = await granted()
    leased.verdict = { kind: 'final', state: 'succeeded', result: null }
    await heartbeat.pass()
    expect(facts).toEqual([])
    clock.moveBy(LEASE * 0.6)
    await heartbeat.pass()
    expect(facts).toEqual([{ kind: 'leases.renewed', count: 1 }])
  })
})
