/** Stopping: what runs may finish, what does not heed is handed back, and a database that is away keeps nobody waiting. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { openSqlite } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/contract/store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
let store: Store
afterEach(async () => {
  await store.close()
})

async function running(run: () => unknown, delivery: 'at_least_once' | 'at_most_once' = 'at_least_once') {
  store = await openSqlite({ path: ':memory:' })
  let begun = (): void => {}
  const started = new Promise<void>((resolve) => (begun = resolve))
  const job = defineJob({
    name: 'job',
    delivery,
    run() {
      begun()
      return run()
    },
  })
  const app = everytick({ store, jobs: [job], queues: { default: 1 }, logger: silent })
  const { id } = await app.enqueue(job)
  const waiting = await app.enqueue(job)
  await app.start()
  await started
  return { app, id, waiting: waiting.id }
}

describe('stop', () => {
  it('lets what runs finish, and starts nothing more', async () => {
    let finish = (): void => {}
    const { app, id, waiting } = await running(() => new Promise<void>((resolve) => (finish = resolve)))
    const stopping = app.stop({ drain: '30s' })
    finish()
    await stopping
    expect(await store.history.run(id)).toMatchObject({ state: 'succeeded' })
    expect(await store.history.run(waiting)).toMatchObject({ state: 'pending', attempt: 0 })
  })

  it('hands back what does not heed its signal, without counting the attempt', async () => {
    const { app, id } = await running(() => new Promise(() => {}))
    await app.stop({ drain: '0s' })
    expect(await store.history.run(id)).toMatchObject({ state: 'pending', attempt: 0, fence: 1 })
    expect((await store.history.journal({ runId: id })).map(({ kind }) => kind)).toEqual(['released'])
  })

  it('hands back what was granted and never begun, though it may happen at most once', async () => {
    const { app, id, waiting } = await running(() => new Promise(() => {}), 'at_most_once')
    await app.stop({ drain: '0s' })
    expect(await store.history.run(id)).toMatchObject({ state: 'failed', error: { code: 'RUN_ABANDONED' } })
    expect(await store.history.run(waiting)).toMatchObject({ state: 'pending', attempt: 0, fence: 1 })
  })

  it('ends although the database is away, and may be called twice', async () => {
    const { app } = await running(() => new Promise(() => {}))
    await store.close()
    await Promise.all([app.stop({ drain: '0s' }), app.stop({ drain: '0s' })])
  })
})
