/** What must not wait for a poll: the real loops on a clock that stands still, so that only hints can move anything. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JobContext } from '../../src/engine/context.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { EngineEvent } from '../../src/observe/engine-event.ts'
import type { NewRun } from '../../src/store/contract/runs.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

const clock = fakeClock(Date.parse('2027-01-01T00:00:00Z'))
const DAY = 86_400_000
let store: Store
let engine: Engine
let facts: EngineEvent[]
let heard: (() => void)[]
beforeEach(async () => {
  store = await openSqlite({ path: ':memory:', clock })
  facts = []
  heard = []
})
afterEach(async () => {
  engine.crash()
  await store.close()
})

async function start(run: (ctx: JobContext) => unknown, concurrency = 5) {
  engine = createEngine({
    ...{ store, clock, timers: clock.timers, roles: ['worker'], workerId: 'w', host: { name: 'here', pid: 1 } },
    jobs: new Map([['job', { name: 'job', parse: (payload) => payload, run: (_: never, ctx) => run(ctx) }]]),
    queues: { default: { concurrency, limits: {}, retryBudget: null } },
    ...{ leaseMs: 15_000, lookaheadMs: 10_000 },
    retention: { historyMs: DAY, journalMs: DAY, idempotencyMs: DAY, workersMs: DAY, orphansMs: DAY, endedMs: DAY },
    onEvent(fact) {
      facts.push(fact)
      for (const hear of heard) hear()
    },
  })
  await engine.start()
}

const idOf = (n: number): string => `01890000-0000-7000-8000-00000000000${n}`
const newRun = (n: number, group: string | null): NewRun => ({
  ...{
    id: idOf(n),
    workspace: 'default',
    job: 'job',
    queue: 'default',
    trigger: 'enqueue',
    priority: 5,
    payload: null,
  },
  policy: { retry: { attempts: 1, backoff: 'fixed', baseMs: 0, maxMs: 0 } },
  ...{ schedule: null, slot: null, group, overlap: group === null ? 'allow' : 'queue' },
  ...{ due: { delayMs: 0 }, idempotencyKey: null },
})

const told = (kind: EngineEvent['kind'], count: number): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (facts.filter((fact) => fact.kind === kind).length >= count) resolve()
    }
    heard.push(look)
    look()
  })

const untilAborted = ({ signal }: JobContext): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

describe('without any time passing', () => {
  it('a run that an operator cancels is told to stop', async () => {
    await start(untilAborted)
    await store.runs.enqueue([newRun(1, null)])
    await told('run.started', 1)
    await store.runs.cancel(idOf(1), 'ana')
    await told('run.cancelled', 1)
    expect(await store.history.run(idOf(1))).toMatchObject({ state: 'cancelled' })
  })

  it('a run that is cancelled while it waits for a slot ends, and is never begun', async () => {
    await start(untilAborted, 1)
    await store.runs.enqueue([newRun(1, null), newRun(2, null)])
    await told('run.started', 1)
    const second = begunId() === idOf(1) ? idOf(2) : idOf(1)
    await store.runs.cancel(second, 'ana')
    await told('run.cancelled', 1)
    expect(await store.history.run(second)).toMatchObject({ state: 'cancelled' })
    expect(facts.filter(({ kind }) => kind === 'run.started')).toHaveLength(1)
  })

  it('the runs of one concurrency group follow each other', async () => {
    await start(() => {})
    await store.runs.enqueue([1, 2, 3, 4].map((n) => newRun(n, 'lane')))
    await told('run.succeeded', 4)
    const order = facts.flatMap((fact) => (fact.kind === 'run.started' ? [fact.run.id] : []))
    expect(order).toEqual([1, 2, 3, 4].map(idOf))
  })
})

const begunId = (): string | undefined => facts.flatMap((fact) => (fact.kind === 'run.started' ? [fact.run.id] : []))[0]
