import { describe, expect, it } from 'vitest'
import type { Run } from '../run/run.ts'
import type { ClaimStore } from '../store/contract/claims.ts'
import type { HistoryStore } from '../store/contract/history.ts'
import { createBegunCounts } from './begun.ts'
import { LeasedRun, type SettleAnswer } from './leased-runs.ts'
import { createSettler } from './settler.ts'

type Settle = ClaimStore['settle']
const accept: Settle = async (list) => list.map(() => 'accepted')

/** A settler on a store that answers in turn as the test says, and what was told of each run. */
function settling(settles: Settle[], finds: (() => Promise<Run | null>)[] = []) {
  const told: [string, SettleAnswer][] = []
  const batches: number[] = []
  const errors: unknown[] = []
  const recoveries: number[] = []
  const settle: Settle = (list) => {
    batches.push(list.length)
    return (settles.shift() ?? accept)(list)
  }
  const settler = createSettler({
    claims: { settle } as Partial<ClaimStore> as ClaimStore,
    history: { run: () => (finds.shift() ?? (async () => null))() } as Partial<HistoryStore> as HistoryStore,
    timers: { set: (_, ring) => clearImmediate.bind(null, setImmediate(ring)) },
    workerId: 'w',
    begun: createBegunCounts({ elapsed: () => 0 }),
    onError: (error) => errors.push(error),
    onRecovery: () => recoveries.push(errors.length),
  })
  const add = (id: string): void => {
    const leased = new LeasedRun({ id, fence: 1, claimId: 'mine', startedAt: 1 } as Run, 0)
    leased.verdict = { kind: 'final', state: 'succeeded', result: null }
    leased.onSettled = (_, answer) => told.push([id, answer])
    settler.add(leased)
  }
  return { settler, add, told, batches, errors, recoveries }
}

const away = async (): Promise<never> => {
  throw new Error('away')
}
const written = async () => ({ finishedAt: 2, fence: 1, claimId: null, startedAt: 1, state: 'succeeded' }) as Run

describe('a settler', () => {
  it('writes what ends in one turn together, and in bounded groups', async () => {
    const { settler, add, told, batches } = settling([])
    for (let n = 0; n < 2500; n++) add(String(n))
    await settler.idle()
    expect({ batches, told: told.length }).toEqual({ batches: [2000, 500], told: 2500 })
  })

  it('says once that it works again when a write succeeds after others failed, and never without a failure', async () => {
    const { settler, add, errors, recoveries } = settling([accept, away, away])
    add('a')
    await settler.idle()
    expect(recoveries).toEqual([])
    add('b')
    await settler.idle()
    add('c')
    await settler.idle()
    expect({ failures: errors.length, recoveries }).toEqual({ failures: 2, recoveries: [2] })
  })

  it('says that it writes until everything is written, but not while it waits for a database that is away', async () => {
    let fail = (): void => {}
    const failing: Settle = () => new Promise((_, reject) => (fail = () => reject(new Error('away'))))
    const { settler, add, errors } = settling([failing])
    expect(settler.isWriting()).toBe(false)
    add('a')
    await Promise.resolve()
    expect(settler.isWriting()).toBe(true)
    fail()
    while (errors.length === 0) await Promise.resolve()
    expect(settler.isWriting()).toBe(false)
    await settler.idle()
    expect(settler.isWriting()).toBe(false)
  })

  it('writes a whole group beside another that is still in flight, and what is less after it', async () => {
    let release = (): void => {}
    const slow: Settle = (list) => new Promise((resolve) => (release = () => resolve(list.map(() => 'accepted'))))
    const { settler, add, told, batches } = settling([slow])
    const addSome = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) add(String(n))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await addSome(1)
    await addSome(1999)
    expect(batches).toEqual([1])
    await addSome(1)
    expect({ batches, told: told.length }).toEqual({ batches: [1, 2000], told: 2000 })
    await addSome(5)
    expect(batches).toEqual([1, 2000])
    release()
    await settler.idle()
    expect({ batches, told: told.length }).toEqual({ batches: [1, 2000, 5], told: 2006 })
  })

  it('writes again what was not written when the answer was lost, and tells of every run once', async () => {
    const { settler, add, told, batches, errors } = settling([away], [written])
    add('a')
    add('b')
    await settler.idle()
    expect({ batches, errors: errors.length }).toEqual({ batches: [2, 1], errors: 1 })
    expect(told).toEqual([
      ['a', 'accepted'],
      ['b', 'accepted'],
    ])
  })

  it('does not take the result of another claim for its own, although a failover gave both the same fence', async () => {
    const byAnother = async () => ({ ...(await written()), startedAt: 7 })
    const refuse: Settle = async (list) => list.map(() => 'refused')
    const { settler, add, told, batches } = settling([away, refuse], [byAnother])
    add('a')
    await settler.idle()
    expect({ batches, told }).toEqual({ batches: [1, 1], told: [['a', 'refused']] })
  })

  it('tells nobody twice when it cannot find out either', async () => {
    const { settler, add, told } = settling([away], [written, away, written, written])
    add('a')
    add('b')
    await settler.idle()
    expect(told.map(([id]) => id)).toEqual(['a', 'b'])
  })

  it('says nothing more after a crash', async () => {
    const { settler, add, told } = settling([away])
    add('a')
    settler.crash()
    await settler.idle()
    expect(told).toEqual([])
  })
})
