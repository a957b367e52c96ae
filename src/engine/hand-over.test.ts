import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Run } from '../run/run.ts'
import type { ClaimStore } from '../store/contract/claims.ts'
import type { HistoryStore } from '../store/contract/history.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { systemTimers } from '../time/timers.ts'
import { createBegunCounts } from './begun.ts'
import { createHandOver, type HandOverAnswer } from './hand-over.ts'
import { createLeaseRenewal } from './lease-renewal.ts'
import { createLeaseWatch } from './lease-watch.ts'
import { LeasedRun } from './leased-runs.ts'

type HandOver = ClaimStore['handOver']
const accept: HandOver = async (list) => list.map(() => 'accepted')
const refuse: HandOver = async (list) => list.map(() => 'refused')
const away = async (): Promise<never> => {
  throw new Error('away')
}

/** On a store that answers in turn as the test says; each retry takes a second of the clock. */
function handing(answers: HandOver[], found: Partial<Run> | null = null) {
  const clock = fakeClock(0)
  const told: [string, HandOverAnswer][] = []
  const batches: [number, number][] = []
  const errors: unknown[] = []
  let recoveries = 0
  const handOver: HandOver = (list, waitMs) => {
    batches.push([list.length, waitMs])
    return (answers.shift() ?? accept)(list, waitMs)
  }
  const handing = createHandOver({
    claims: { handOver } as Partial<ClaimStore> as ClaimStore,
    history: { run: async () => found as Run | null } as Partial<HistoryStore> as HistoryStore,
    clock,
    timers: {
      set(_, ring) {
        clock.moveBy(1000)
        return clearImmediate.bind(null, setImmediate(ring))
      },
    },
    onError: (error) => errors.push(error),
    onRecovery: () => recoveries++,
  })
  const add = (id: string, waitMs = 60_000): LeasedRun => {
    const leased = new LeasedRun({ id, fence: 1 } as Run, 5000)
    handing.add(leased, waitMs, (_, answer) => told.push([id, answer]))
    return leased
  }
  const answered = async (count: number): Promise<void> => {
    while (told.length < count) await new Promise(setImmediate)
  }
  return { handing, add, answered, told, batches, errors, recoveries: () => recoveries }
}

describe('handing over', () => {
  it('writes those that wait equally long together', async () => {
    const { add, answered, batches } = handing([])
    for (const [id, waitMs] of [['a', 1], ['b', 2], ['c', 1]] as const) add(id, waitMs) // biome-ignore format: a table
    await answered(3)
    expect(batches).toEqual([
      [2, 1],
      [1, 2],
    ])
  })

  it('asks again while the store is away and the lease holds', async () => {
    const { add, answered, told, errors } = handing([away, away])
    add('a')
    await answered(1)
    expect({ told, errors: errors.length }).toEqual({ told: [['a', 'handed_over']], errors: 2 })
  })

  it('says once that it works again, and nothing when it never failed', async () => {
    const { add, answered, recoveries } = handing([accept, away, away])
    add('a')
    await answered(1)
    expect(recoveries()).toBe(0)
    add('b')
    await answered(2)
    add('c')
    await answered(3)
    expect(recoveries()).toBe(1)
  })

  it('is no lease lost for a renewal that was asked for before and answered after', async () => {
    const { add, answered } = handing([])
    const leased = add('a')
    const lost: string[] = []
    const renew: ClaimStore['renew'] = async () => {
      await answered(1)
      return { now: 0, lost: ['a'], cancelling: [] }
    }
    const leasedRuns = { all: () => [leased], size: 1, add: () => leased, remove: () => {} }
    const [clock, leaseMs] = [fakeClock(0), 3000]
    const onEvent = ({ kind }: EngineEvent) => lost.push(kind)
    const heartbeat = createLeaseRenewal({
      ...{ leasedRuns, clock, leaseMs, onEvent },
      claims: { renew } as Partial<ClaimStore> as ClaimStore,
      leaseWatch: createLeaseWatch({ ...{ leasedRuns, clock, leaseMs, onEvent }, timers: systemTimers }),
      begun: createBegunCounts(clock),
    })
    await heartbeat.pass()
    expect({ lost, stopped: leased.stopped }).toEqual({ lost: [], stopped: null })
  })

  it('gives up when the lease is over', async () => {
    const { add, answered, told, batches } = handing([away, away, away, away, away, away, away])
    add('a')
    await answered(1)
    expect({ told, batches: batches.length }).toEqual({ told: [['a', 'refused']], batches: 6 })
  })

  it.each([
    ['was completed before its worker left it', { fence: 1, state: 'succeeded' }, 'handed_over'],
    ['was reported as failed before, and waits again', { fence: 1, state: 'pending' }, 'handed_over'],
    ['is to be cancelled', { fence: 1, state: 'running', cancelRequested: true }, 'cancelling'],
    ['was completed under another claim, to which a failover gave the same fence', { fence: 1, startedAt: 7, state: 'succeeded' }, 'refused'], // biome-ignore format: a table
    ['was granted to another', { fence: 2, state: 'running', cancelRequested: false }, 'refused'],
    ['is gone', null, 'refused'],
  ] as const)('knows why a run was refused that %s', async (_, found, answer) => {
    const { add, answered, told } = handing([refuse], found)
    add('a')
    await answered(1)
    expect(told).toEqual([['a', answer]])
  })

  it('says nothing more after a crash', async () => {
    const { handing: it, add, told } = handing([away])
    add('a')
    it.crash()
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    expect(told).toEqual([])
  })
})
