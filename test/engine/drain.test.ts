/** Draining: a process that is told to claims nothing more, finishes what it does, and leaves the rest to others. */
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { defineJob, everytick } from '../../src/index.ts'
import { createApp } from '../../src/scheduler.ts'
import { openSqlite } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { systemClock } from '../../src/time/clock.ts'
import { systemTimers, type Timers } from '../../src/time/timers.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
let store: Store
const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
  await store.close()
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate)
}

/** Two runs, the first of them in flight in a process whose beats are the test's to give. */
async function working() {
  store = await openSqlite({ path: ':memory:' })
  let reportPresence = (): void => {}
  const timers: Timers = {
    set(ms, ring) {
      if (ms !== 5000) return systemTimers.set(ms, ring)
      reportPresence = ring
      return () => {}
    },
  }
  let finish = (): void => {}
  let begun = (): void => {}
  const started = new Promise<void>((resolve) => (begun = resolve))
  const job = defineJob({
    name: 'job',
    run() {
      begun()
      return new Promise<void>((resolve) => (finish = resolve))
    },
  })
  const options = { store, jobs: [job], queues: { default: 1 }, logger: silent }
  const app = createApp(options, {
    clock: systemClock,
    timers,
    createEngine,
    onSignal: () => () => {},
    onUncaught: () => () => {},
  })
  endings.push(() => app.stop({ drain: '0s' }))
  const [first, second] = [await app.enqueue(job), await app.enqueue(job)]
  await app.start()
  await started
  await until(async () => (await store.workers.list()).length === 1)
  const [worker] = await store.workers.list()
  return {
    app,
    job,
    ids: [first.id, second.id] as const,
    worker: worker!,
    reportPresence: () => reportPresence(),
    finish: () => finish(),
  }
}

const stateOf = async (id: string): Promise<string> => (await store.history.run(id))!.state

describe('a process that is told to drain', () => {
  it('claims nothing more, hands back what it had not begun, and finishes what it does', async () => {
    const { app, job, ids, worker, reportPresence, finish } = await working()
    expect(await store.workers.drain(worker.id)).toBe(true)
    reportPresence()
    await until(async () => (await stateOf(ids[1])) === 'pending')
    expect(await store.history.run(ids[1])).toMatchObject({ attempt: 0, workerId: null })
    expect(await stateOf(ids[0])).toBe('running')
    expect(await store.workers.list()).toMatchObject([{ id: worker.id, draining: true }])
    const late = await app.enqueue(job)
    finish()
    await until(async () => (await stateOf(ids[0])) === 'succeeded')
    expect([await stateOf(ids[1]), await stateOf(late.id)]).toEqual(['pending', 'pending'])
  })

  it('leaves the rest to others', async () => {
    const { ids, worker, reportPresence } = await working()
    await store.workers.drain(worker.id)
    reportPresence()
    await until(async () => (await stateOf(ids[1])) === 'pending')
    const job = defineJob({ name: 'job', run: () => 'by another' })
    const other = everytick({ store, jobs: [job], queues: { default: 1 }, logger: silent })
    endings.push(() => other.stop({ drain: '0s' }))
    await other.start()
    await until(async () => (await stateOf(ids[1])) === 'succeeded')
    expect(await stateOf(ids[0])).toBe('running')
  })

  it('drains for as long as it lives, also when it was dropped from the list meanwhile', async () => {
    const { worker, reportPresence } = await working()
    await store.workers.drain(worker.id)
    const isDraining = async (): Promise<boolean> => (await store.workers.list()).some(({ draining }) => draining)
    const before = worker.seenAt
    reportPresence()
    await until(async () => (await store.workers.list())[0]!.seenAt >= before && (await isDraining()))
    await store.workers.leave(worker.id)
    await until(async () => {
      reportPresence()
      return isDraining()
    })
    expect(await store.workers.list()).toMatchObject([{ id: worker.id, draining: true }])
  })
})
