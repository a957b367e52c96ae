import { describe, expect, it } from 'vitest'
import type { Run } from '../run/run.ts'
import type { ClaimRequest, ClaimStore } from '../store/contract/claims.ts'
import { createBegunCounts } from './begun.ts'
import { createLeasedRuns, type LeasedRun } from './leased-runs.ts'
import { createWorker, type Worker } from './worker.ts'

const LEASE = 10_000
const RETRIED = { retry: { attempts: 5 } } as unknown as Run['policy']
const ONCE = { delivery: 'at_most_once' } as Run['policy']
/** The work ends, and the store has its verdict. */
const end = (leased: LeasedRun, { slots }: Worker, at = 0): void => {
  slots.ended(leased, at)
  slots.settled(leased)
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Setting {
  readonly due: number
  readonly concurrency: number
  /** What is done with a run that is begun. */
  readonly work?: (leased: LeasedRun, worker: Worker) => void
  readonly policy?: Run['policy']
  /** What each look at the clock adds to it. */
  readonly tickMs?: number
  readonly nextDueInMs?: number
  readonly elapsed?: () => number
}

/** A worker on a store that has so many runs due, and nothing else. */
function working({
  due,
  concurrency,
  work = () => {},
  policy = RETRIED,
  tickMs = 0,
  nextDueInMs,
  elapsed: given,
}: Setting) {
  const asked: number[] = []
  let [left, elapsed, wakes] = [due, 0, 0]
  const claim = async ({ wanted }: ClaimRequest) => {
    const runs: Run[] = []
    for (const { queue, limit } of wanted) {
      asked.push(limit)
      for (let n = Math.min(limit, left); n > 0; n--)
        runs.push({ id: String(left--), queue, attempt: 1, policy } as Run)
    }
    return { now: 0, runs, nextDueAt: nextDueInMs ?? null, lastWorkspaces: {} }
  }
  const begun: LeasedRun[] = []
  const worker: Worker = createWorker({
    claims: { claim } as Partial<ClaimStore> as ClaimStore,
    clock: { now: () => 0, elapsed: given ?? (() => (elapsed += tickMs)) },
    leasedRuns: createLeasedRuns(),
    begun: createBegunCounts({ elapsed: () => 0 }),
    onError: () => {},
    onRecovery: () => {},
    queues: { default: { concurrency, limits: {}, retryBudget: null } },
    workerId: 'w',
    leaseMs: LEASE,
    pollMs: () => 5000,
    attempt(leased) {
      begun.push(leased)
      work(leased, worker)
    },
    cancel: () => {},
    wake: () => wakes++,
  })
  return { worker, begun, asked, wakes: () => wakes }
}

describe.each([
  ['cannot be tried again', { attempt: 1, fence: 1, policy: ONCE }],
  ['went back twice uncounted', { attempt: 1, fence: 3, policy: RETRIED }],
])('a run that %s', (_, which) => {
  it('begins only when the store counts it as begun, and is announced again after the store was away', async () => {
    const runs = ['a', 'b', 'c'].map((id) => ({
      id,
      queue: 'default',
      claimId: 'c1',
      priority: 0,
      dueAt: 0,
      ...which,
    }))
    const announced: number[] = []
    const errors: unknown[] = []
    let recoveries = 0
    const begun: string[] = []
    let isAway = true
    const worker: Worker = createWorker({
      claims: {
        claim: async () => ({
          now: 0,
          runs: begun.length === 0 && announced.length === 0 ? runs : [],
          nextDueAt: null,
          lastWorkspaces: {},
        }),
        async renew(_lease: number, _grants: unknown, counts: readonly { count: number }[]) {
          if (isAway) throw new Error('away')
          announced.push(counts[0]!.count)
          return { now: 0, lost: [], cancelling: [] }
        },
      } as unknown as ClaimStore,
      clock: { now: () => 0, elapsed: () => 0 },
      leasedRuns: { ...createLeasedRuns(), remove: () => {} },
      begun: createBegunCounts({ elapsed: () => 0 }),
      onError: (error) => errors.push(error),
      onRecovery: () => recoveries++,
      queues: { default: { concurrency: 1, limits: {}, retryBudget: null } },
      workerId: 'w',
      leaseMs: LEASE,
      pollMs: () => 5000,
      attempt: (leased) => begun.push(leased.run.id),
      cancel: () => {},
      wake: () => {},
    })
    await worker.pass()
    expect(begun).toEqual(['a'])
    end({ run: runs[0], startedAt: 0 } as unknown as LeasedRun, worker)
    await turn()
    expect([begun, errors.length, recoveries]).toEqual([['a'], 1, 0])
    isAway = false
    await worker.pass()
    await turn()
    expect([begun, announced, recoveries]).toEqual([['a', 'b'], [2], 1])
  })
})

describe('a worker', () => {
  it('does not pile up on the stack what ends as soon as it is begun', async () => {
    const { worker, begun } = working({ due: 30_000, concurrency: 30_000, work: end })
    await worker.pass()
    while (begun.length < 30_000) await turn()
    expect({ begun: begun.length, busy: worker.busy }).toEqual({ begun: 30_000, busy: 0 })
  })

  it('lets others have their turn while it works on what never waits', async () => {
    const { worker, begun } = working({ due: 100, concurrency: 100, work: end, tickMs: 1 })
    await worker.pass()
    expect(begun.length).toBeLessThan(100)
    while (begun.length < 100) await turn()
  })

  it('begins no more at once than it may, and the next when one ends', async () => {
    const { worker, begun } = working({ due: 20, concurrency: 3 })
    await worker.pass()
    expect(begun).toHaveLength(3)
    end(begun[0]!, worker)
    expect({ begun: begun.length, busy: worker.busy }).toEqual({ begun: 4, busy: 3 })
  })

  it('keeps the slot of a run taken until the store has its verdict', async () => {
    const { worker, begun } = working({ due: 20, concurrency: 3 })
    await worker.pass()
    for (const leased of begun.slice()) worker.slots.ended(leased, 5)
    expect(begun).toHaveLength(3)
    worker.slots.settled(begun[1]!)
    expect(begun).toHaveLength(4)
  })

  it.each([
    // The first fifteen of twenty show how quick the work is.
    ['at once when the work is quicker than a commit', RETRIED, 25],
    ['after its verdict, however quick the work is, when it cannot be tried again', ONCE, 20],
  ])('frees the slot of a run %s', async (_, policy, begins) => {
    const { worker, begun } = working({ due: 40, concurrency: 20, policy })
    await worker.pass()
    for (const leased of begun.slice()) worker.slots.ended(leased, 0.5)
    expect(begun).toHaveLength(begins)
  })

  it('asks for more when half of what it may hold is free, and not for every slot', async () => {
    const { worker, begun, asked, wakes } = working({ due: 100, concurrency: 10 })
    await worker.pass()
    expect(await worker.pass()).toBe(Number.POSITIVE_INFINITY)
    // At a rate at which ten are ahead by a tenth of a second.
    for (let n = 0; n < 9; n++) end(begun[n]!, worker, 10 * (n + 1))
    expect({ asked, wakes: wakes() }).toEqual({ asked: [20], wakes: 0 })
    end(begun[9]!, worker, 100)
    expect(wakes()).toBe(1)
    await worker.pass()
    expect(asked).toEqual([20, 10])
  })

  it('knows how fast its work is by the first of it, however long it waited for more', async () => {
    let elapsed = 0
    const { worker, asked, begun } = working({ due: 1000, concurrency: 10, work: end, elapsed: () => elapsed })
    await worker.pass()
    while (begun.length < 20) await turn()
    elapsed += 5000
    await worker.pass()
    expect(asked).toEqual([20, 10 + 16 * 16])
  })

  it('holds a tenth of a second of work although runs that begin together end together, and takes none of it for quick', async () => {
    const [concurrency, lengthMs] = [20, 15]
    const present: LeasedRun[] = []
    let now = 0
    const work = (leased: LeasedRun): unknown => present.push(leased)
    const { worker, asked } = working({ due: 100_000, concurrency, work, elapsed: () => now })
    for (let round = 0; round < 50; round++) {
      await worker.pass()
      await turn()
      now += lengthMs
      const ended = present.splice(0)
      for (const leased of ended) end(leased, worker, (now += 0.01))
      expect(ended.every(({ staysInSlot }) => staysInSlot)).toBe(true)
    }
    const tenthOfSecond = (concurrency / lengthMs) * 100
    expect(Math.max(...asked)).toBeLessThan(concurrency + 1.5 * tenthOfSecond)
    expect(Math.max(...asked)).toBeGreaterThan(0.5 * tenthOfSecond)
  })

  it('asks once for a claim, however many end meanwhile', async () => {
    const { worker, begun, wakes } = working({ due: 1000, concurrency: 10, work: end })
    await worker.pass()
    while (begun.length < 20) await turn()
    expect(wakes()).toBe(1)
  })

  it('starts nothing once it is closed, and answers what it held', async () => {
    const { worker, begun } = working({ due: 5, concurrency: 2 })
    await worker.pass()
    expect(worker.close()).toHaveLength(3)
    end(begun[0]!, worker)
    expect(begun).toHaveLength(2)
  })

  it('does not begin what may be another’s by now', async () => {
    const { worker, begun } = working({ due: 5, concurrency: 5, tickMs: LEASE })
    await worker.pass()
    expect(begun).toEqual([])
  })

  it('looks again when the next run is due, and at the latest when the poll is', async () => {
    expect(await working({ due: 0, concurrency: 1, nextDueInMs: 120 }).worker.pass()).toBe(120)
    expect(await working({ due: 0, concurrency: 1 }).worker.pass()).toBe(5000)
  })
})
