/** What is left when the process that fed BullMQ ends: killed, one job there and one run here; stopped, no connection that keeps it. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Queue, Worker } from 'bullmq'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bullmq, type WaitFor } from '../../src/bullmq.ts'
import { everytick } from '../../src/index.ts'
import { until } from '../chaos/fleet.ts'
import { openRedis, type TestRedis, whyNoRedis } from './redis.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const closing: (() => unknown)[] = []
let redis: TestRedis

/** An app that has a run waiting, and a way to start another process on it. */
async function place(wait: WaitFor) {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-bullmq-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  const store = `sqlite:${join(folder, 'everytick.db')}`
  const { connection } = redis
  const queue = new Queue(`mail-${randomUUID()}`, { connection })
  closing.push(() => queue.close())
  const job = bullmq({ name: 'mail', queue, wait })
  const app = everytick({ store, jobs: [job], lease: '1s', logger: silent })
  closing.push(() => app.stop({ drain: '0s' }))
  const { id } = await app.enqueue(job)
  const startOther = (ends?: 'after adding' | 'by itself'): ChildProcess => {
    const told = JSON.stringify({ store, connection, name: queue.name, wait, ends })
    const child = fork(fileURLToPath(new URL('./bullmq-node.mjs', import.meta.url)), [told], { stdio: 'inherit' })
    closing.push(() => child.kill('SIGKILL'))
    return child
  }
  const seen: string[] = []
  const startBull = (): void => {
    const worker = new Worker(queue.name, async ({ data }) => ({ times: seen.push(data.run) }), { connection })
    closing.push(() => worker.close(true))
  }
  return { app, id, queue, seen, startOther, startBull }
}

const exitOf = (child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))

describe.skipIf(whyNoRedis !== null)(`a process that feeds BullMQ${whyNoRedis ? ` (${whyNoRedis})` : ''}`, () => {
  beforeAll(async () => {
    redis = await openRedis()
  })
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  afterAll(() => redis?.close())

  it('that is killed after it added the job and before it could say so leaves one job, and one run that succeeds', async () => {
    const { app, id, queue, seen, startOther, startBull } = await place('accepted')
    expect(await exitOf(startOther('after adding'))).toMatchObject({ signal: 'SIGKILL' })
    expect(await app.runs.get(id)).toMatchObject({ state: 'running', attempt: 1 })
    expect(await queue.getJobState(id)).toBe('waiting')
    await app.start()
    expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 2 })
    expect(await queue.getJobCountByTypes('waiting', 'active', 'completed', 'failed', 'delayed')).toBe(1)
    startBull()
    await until('it is done', async () => (await queue.getJobState(id)) === 'completed')
    expect(seen).toEqual([id])
  })

  it('that is killed while it waits for the end leaves a job that the next one joins', async () => {
    const { app, id, queue, seen, startOther, startBull } = await place('completed')
    const doomed = startOther()
    await until('it is added', () => queue.getJob(id))
    doomed.kill('SIGKILL')
    await exitOf(doomed)
    expect(await app.runs.get(id)).toMatchObject({ state: 'running', attempt: 1 })
    startBull()
    await until('it is done while nobody looks', async () => (await queue.getJobState(id)) === 'completed')
    await app.start()
    expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 2, result: { times: 1 } })
    expect(await queue.getJobCountByTypes('waiting', 'active', 'completed', 'failed', 'delayed')).toBe(1)
    expect(seen).toEqual([id])
  })

  it('ends by itself when its app was stopped', async () => {
    const { startOther, startBull } = await place('completed')
    startBull()
    const other = startOther('by itself')
    expect(await exitOf(other)).toEqual({ code: 0, signal: null })
  })
})
