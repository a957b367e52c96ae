/** Errors that no code catches end the process of a worker: the run that threw loses an attempt, and its neighbours start elsewhere at once, though their lease lasts ten minutes. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { defineJob, type Everytick, everytick } from '../../src/index.ts'
import { MAX_UNCOUNTED } from '../../src/run/settle.ts'
import { ensureBuilt } from '../built-package.ts'
import { openFaultProxy } from './fault-proxy.ts'
import { until } from './fleet.ts'
import { type ChaosStore, STORES } from './stores.ts'

const NEIGHBOURS = 10
const NODE = join(import.meta.dirname, 'uncaught-node.mjs')
const retry = { attempts: 3, backoff: 'fixed', base: '20ms', max: '20ms' } as const
const hold = defineJob({ name: 'hold', retry, run() {} })
const atMostOnce = defineJob({ name: 'once', delivery: 'at_most_once', run() {} })
const throwers = {
  timer: defineJob({ name: 'timer', retry, run() {} }),
  promise: defineJob({ name: 'promise', retry, run() {} }),
}
const jobs = [hold, atMostOnce, ...Object.values(throwers)]
const silent = { debug() {}, info() {}, warn() {}, error() {} }

let folder: string
let opened: ChaosStore
let app: Everytick
let workers: ChildProcess[]

beforeAll(ensureBuilt)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everytick-uncaught-'))
  workers = []
  writeFileSync(join(folder, 'effects'), '')
  block(true)
})
afterEach(async () => {
  for (const worker of workers) worker.kill('SIGKILL')
  await app.stop()
  await opened.close()
  rmSync(folder, { recursive: true, force: true })
})

const block = (on: boolean): void =>
  on ? writeFileSync(join(folder, 'block'), '') : rmSync(join(folder, 'block'), { force: true })

const effects = (what: string): string[] =>
  readFileSync(join(folder, 'effects'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${what} `))

async function open(openStore: () => Promise<ChaosStore>): Promise<void> {
  opened = await openStore()
  app = everytick({ store: opened.store, jobs, logger: silent })
}

interface Worker {
  readonly process: ChildProcess
  /** Its exit code and what it wrote to standard error. */
  readonly ended: Promise<{ readonly code: number; readonly text: string }>
}

function work({ url = opened.url, listener = 'none' } = {}): Worker {
  const setting = { store: url, effects: join(folder, 'effects'), block: join(folder, 'block'), listener }
  const worker = fork(NODE, [JSON.stringify(setting)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  workers.push(worker)
  let text = ''
  worker.stderr!.on('data', (chunk) => (text += chunk))
  return { process: worker, ended: once(worker, 'close').then(([code]) => ({ code, text })) }
}

/** A worker, and neighbours at work in it. */
async function busy(options?: Parameters<typeof work>[0]): Promise<Worker & { readonly ids: readonly string[] }> {
  const items = Array.from({ length: NEIGHBOURS }, () => ({}))
  const ids = (await app.enqueueMany(hold, items)).map(({ id }) => id)
  const worker = work(options)
  await until('the neighbours are at work', async () => effects('begun').length >= NEIGHBOURS)
  return { ...worker, ids }
}

const run = async (id: string) => (await opened.store.history.run(id))!

describe.each(Object.entries(STORES))('an error on %s that no code catches', (_, openStore) => {
  it.each(Object.entries(throwers))(
    'costs the run that threw it an attempt, and its neighbours none (%s)',
    async (name, thrower) => {
      await open(openStore)
      const { id: once } = await app.enqueue(atMostOnce)
      const { ended, ids } = await busy()
      await until('the run that may begin once is at work', async () => effects('begun').length > NEIGHBOURS)
      const { id: poison } = await app.enqueue(thrower)

      const { code, text } = await ended
      expect(code).toBe(1)
      expect(text.match(/UNCAUGHT_ERROR/g)).toHaveLength(1)
      expect(text).toMatch(/^UNCAUGHT_ERROR: .* Error: no code catches this\n {4}at .*uncaught-node\.mjs:\d+/m)
      expect(text).toContain(`Run ${poison} of job "${name}" threw it`)
      expect(text).toContain('11 other runs go back')
      expect(effects('aborted by UNCAUGHT_ERROR')).toHaveLength(NEIGHBOURS + 1)
      for (const id of ids) expect(await run(id)).toMatchObject({ state: 'pending', attempt: 0, fence: 1 })
      const [entry] = await opened.store.history.journal({ runId: ids[0]! })
      expect(entry).toMatchObject({ kind: 'released', data: { error: { code: 'UNCAUGHT_ERROR' } } })
      expect(await run(poison)).toMatchObject({ state: 'pending', attempt: 1 })
      expect(await run(once)).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'RUN_ABANDONED' } })

      block(false)
      const codes: number[] = []
      let last = work()
      const failed = await until('the run that throws has failed', async () => {
        if (last.process.exitCode !== null) {
          codes.push((await last.ended).code)
          last = work()
        }
        const found = await run(poison)
        return found.state === 'failed' && found
      })
      const error = { message: 'no code catches this', code: 'UNCAUGHT_ERROR', stack: expect.stringContaining(NODE) }
      expect(failed).toMatchObject({ attempt: 3, error })
      await until('the neighbours are done', async () => {
        const states = await Promise.all(ids.map(run))
        return states.every(({ state, attempt }) => state === 'succeeded' && attempt === 1)
      })
    },
  )

  it('counts for no run while its origin is unknown, except for one that goes back too often', async () => {
    await open(openStore)
    const { id: suspect } = await app.enqueue(hold)
    const wanted = [{ queue: 'default', limit: 1 }]
    for (let time = 0; time < MAX_UNCOUNTED; time++) {
      const [claimed] = (await opened.store.claims.claim({ workerId: 'before', leaseMs: 60_000, wanted })).runs
      const { id, fence, claimId } = claimed!
      const verdict = { kind: 'retry', delayMs: 0, reason: 'released', counts: false, error: null } as const
      await opened.store.claims.settle([{ id, fence, claimId, workerId: 'before', verdict }])
    }
    const { process, ended, ids } = await busy()
    await until('the suspect is at work', async () => effects('begun').length > NEIGHBOURS)
    process.send('throw')
    const { code, text } = await ended
    expect(code).toBe(1)
    expect(text).toContain('Which run threw it is not known.')
    for (const id of ids) expect(await run(id)).toMatchObject({ state: 'pending', attempt: 0 })
    expect(await run(suspect)).toMatchObject({ state: 'pending', attempt: 1, fence: MAX_UNCOUNTED + 1 })
  })
})

describe('a process that an uncaught error ends', () => {
  it('ends although its store does not answer', async () => {
    await open(STORES.Postgres)
    const proxy = await openFaultProxy(opened.url)
    try {
      const { process, ended, ids } = await busy({ url: proxy.url })
      proxy.cut('black hole')
      process.send('throw')
      expect((await ended).code).toBe(1)
      expect(await run(ids[0]!)).toMatchObject({ state: 'running', attempt: 1 })
    } finally {
      await proxy.close()
    }
  })

  it('goes on where the user has a listener that lets it live', async () => {
    await open(STORES.SQLite)
    const { process, ids } = await busy({ listener: 'survives' })
    const caught = once(process, 'message')
    process.send('throw')
    expect(await caught).toEqual(['caught', undefined])
    block(false)
    await until('the neighbours are done', async () =>
      (await Promise.all(ids.map(run))).every(({ state, fence }) => state === 'succeeded' && fence === 1),
    )
  })

  it('gives its runs back from a listener of the user too, which stops the app with the error', async () => {
    await open(STORES.SQLite)
    const { ended, ids } = await busy({ listener: 'stops' })
    const { id: poison } = await app.enqueue(throwers.timer)
    expect((await ended).code).toBe(3)
    for (const id of ids) expect(await run(id)).toMatchObject({ state: 'pending', attempt: 0 })
    expect(await run(poison)).toMatchObject({ state: 'pending', attempt: 1 })
  })
})
