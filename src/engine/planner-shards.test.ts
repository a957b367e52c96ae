import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../store/contract/store.ts'
import { openSqlite } from '../store/sqlite/store.ts'
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts'
import { plannerShards } from './planner-shards.ts'

const LEASE_MS = 4000
let clock: FakeClock
let store: Store

beforeEach(async () => {
  clock = fakeClock(0)
  store = await openSqlite({ path: ':memory:', clock })
  return () => store.close()
})

let made = 0
const planner = () => plannerShards({ locks: store.locks, clock, holder: `p${++made}`, leaseMs: LEASE_MS })
type Planner = ReturnType<typeof planner>

/** What each of them plans after every one of them had its turn to look, twice, so that all know of all. */
async function sharesOf(planners: readonly Planner[]): Promise<string[]> {
  for (let round = 0; round < 2; round++) {
    clock.moveBy(LEASE_MS / 2)
    for (const each of planners) await each.leads()
  }
  return planners.map(({ shard }) => (shard == null ? 'none' : `${shard.index} of ${shard.count}`))
}

describe('planners that share the schedules', () => {
  afterEach(() => {
    made = 0
  })

  it('plan everything when there is one, and a share each when there are more', async () => {
    const [a, b, c] = [planner(), planner(), planner()]
    expect(await sharesOf([a])).toEqual(['0 of 1'])
    expect(await sharesOf([a, b])).toEqual(['0 of 2', '1 of 2'])
    expect(await sharesOf([a, b, c])).toEqual(['0 of 3', '1 of 3', '2 of 3'])
  })

  it('take over the share of one that stops at the next renewal', async () => {
    const [a, b, c] = [planner(), planner(), planner()]
    await sharesOf([a, b, c])
    await a.release()
    expect(a.leading).toBe(false)
    expect(await sharesOf([b, c])).toEqual(['0 of 2', '1 of 2'])
  })

  it('take over the share of one that was killed when its lease has ended, and not before', async () => {
    const [a, b] = [planner(), planner()]
    await sharesOf([a, b])
    clock.moveBy(LEASE_MS / 2)
    await b.leads()
    expect(b.shard).toEqual({ index: 1, count: 2 })
    expect(await sharesOf([b])).toEqual(['0 of 1'])
  })

  it('always keep the lease that a single planner holds, so that others see that somebody plans', async () => {
    const [a, b] = [planner(), planner()]
    await sharesOf([a, b])
    await a.release()
    await sharesOf([b])
    const leased = (await store.locks.list()).filter(({ until }) => until > clock.now())
    expect(leased).toMatchObject([{ name: 'planner', holder: 'p2' }])
  })

  it('ask the store only when half of the lease is over', async () => {
    const a = planner()
    await a.leads()
    const { until } = (await store.locks.list())[0]!
    clock.moveBy(LEASE_MS / 2 - 1)
    await a.leads()
    expect((await store.locks.list())[0]).toMatchObject({ until })
  })

  it('stand by when all places are held', async () => {
    const all = Array.from({ length: 17 }, planner)
    const shares = await sharesOf(all)
    expect(new Set(shares.slice(0, 16)).size).toBe(16)
    expect(shares[16]).toBe('none')
    expect(all[16]!.leading).toBe(false)
  })
})
