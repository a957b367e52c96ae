/** The life of an app with the machine's own clock: starting, stopping, and being asked to end. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob, everytick } from '../../src/index.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { ensureBuilt } from '../built-package.ts'

const folder = mkdtempSync(join(tmpdir(), 'everytick-life-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const fine = defineJob({ name: 'fine', run: () => 'done' })
const memory = { store: 'sqlite::memory:', jobs: [fine] }

describe('an app', () => {
  it('executes what is enqueued while it runs', async () => {
    await using app = everytick(memory)
    await app.start()
    const run = await app.runs.wait(await app.enqueue(fine), { timeout: '20s' })
    expect(run).toMatchObject({ state: 'succeeded', result: 'done' })
  })

  it('takes and shows runs without being started, for processes that only enqueue', async () => {
    await using app = everytick(memory)
    const { id } = await app.enqueue(fine)
    expect(await app.runs.get(id)).toMatchObject({ state: 'pending' })
  })

  it('starts once however often it is started, and stops once however often it is stopped', async () => {
    const app = everytick(memory)
    await Promise.all([app.start(), app.start()])
    await app.start()
    await Promise.all([app.stop(), app.stop()])
    await app.stop({ drain: 0 })
    await expect(app.enqueue(fine)).rejects.toMatchObject({ code: 'NOT_STARTED' })
    await expect(app.schedules.list()).rejects.toMatchObject({ code: 'NOT_STARTED' })
  })

  it('can be started again after it was stopped', async () => {
    const app = everytick({ ...memory, store: `sqlite:${join(folder, 'again.db')}` })
    await app.start()
    await app.stop()
    await app.start()
    expect(await app.runs.wait(await app.enqueue(fine), { timeout: '20s' })).toMatchObject({ state: 'succeeded' })
    await app.stop()
  })

  it('can be started after a start that failed', async () => {
    const path = join(folder, 'not-yet-there', 'x.db')
    const app = everytick({ ...memory, store: `sqlite:${path}` })
    await expect(app.start()).rejects.toThrow()
    const { mkdirSync } = await import('node:fs')
    mkdirSync(join(folder, 'not-yet-there'))
    await app.start()
    await app.stop()
  })

  it('leaves a store that it was handed open', async () => {
    const store = await openSqlite({ path: ':memory:' })
    const app = everytick({ ...memory, store })
    await app.start()
    await app.stop()
    expect(await store.history.runs({}, { limit: 1 })).toEqual([])
    await store.close()
  })

  it('hands back what does not end within the drain, without counting the attempt', async () => {
    const store = await openSqlite({ path: ':memory:' })
    let begun = (): void => {}
    const running = new Promise<void>((resolve) => (begun = resolve))
    const endless = defineJob({
      name: 'endless',
      run: (ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
          begun()
        }),
    })
    const app = everytick({ store, jobs: [endless] })
    await app.start()
    const { id } = await app.enqueue(endless)
    await running
    await app.stop({ drain: '10ms' })
    expect(await store.history.run(id)).toMatchObject({ state: 'pending', attempt: 0, workerId: null })
    await store.close()
  })

  it('refuses a role it does not have, and another one than it was started with', async () => {
    await using app = everytick(memory)
    await app.start({ role: 'worker' })
    await expect(app.start()).rejects.toMatchObject({ message: 'the app was started as worker' })
    await expect(app.start({ role: 'wroker' as 'worker' })).rejects.toMatchObject({ hint: 'did you mean worker?' })
  })
})

describe('a process that is asked to end', () => {
  beforeAll(ensureBuilt)

  it.skipIf(process.platform === 'win32')('lets its runs finish, and then ends by the signal', async () => {
    const child = fork(join(import.meta.dirname, 'asked-to-end.mjs'), [join(folder, 'signal.db')])
    await once(child, 'message')
    child.kill('SIGTERM')
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGTERM')
    const store = await openSqlite({ path: join(folder, 'signal.db') })
    expect(await store.history.runs({}, { limit: 5 })).toMatchObject([{ state: 'succeeded', result: 'finished' }])
    await store.close()
  })
})
