/** The BullMQ bridge on a real Redis with real workers of BullMQ: what is added, what is waited for, and what becomes of it when something dies. */
import { randomUUID } from 'node:crypto'
import { Queue, UnrecoverableError, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type BullmqOptions, bullmq } from '../../src/bullmq.ts'
import { type Everytick, everytick, type Job } from '../../src/index.ts'
import { openSqlite } from '../../src/sqlite.ts'
import { until } from '../chaos/fleet.ts'
import { openRedis, type RedisAddress, startRedis, type TestRedis, whyNoRedis } from './redis.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const quick = { attempts: 3, backoff: 'fixed', base: '10ms' } as const
const payload = z.object({ to: z.string() })
let redis: TestRedis
const closing: (() => Promise<unknown>)[] = []

const closeAll = async (): Promise<void> => {
  for (const close of closing.splice(0).reverse()) await close()
}

/** A queue that no other test has, and an app whose jobs feed it. */
function place(connection: RedisAddress = redis.connection) {
  const name = `mail-${randomUUID()}`
  const queue = new Queue(name, { connection })
  queue.on('error', () => {})
  closing.push(() => queue.close())
  return {
    name,
    queue,
    connection,
    work(handle: (data: { run: string; attempt: number; payload: unknown }) => unknown, options: object = {}) {
      const worker = new Worker(name, async ({ data }) => handle(data), { connection, ...options })
      worker.on('error', () => {})
      closing.push(() => worker.close(true))
      return worker
    },
    jobs: () => queue.getJobs(['completed', 'failed', 'active', 'waiting', 'delayed', 'prioritized']),
  }
}

/** One that the test may stop and count the clients of. */
async function ownRedis() {
  const own = await startRedis()
  closing.push(() => own.close())
  return own
}

/** Those that are connected, without the one that asks. */
async function clientsOf(connection: RedisAddress): Promise<{ cmd: string }[]> {
  const asking = new Redis(connection)
  const lines = String(await asking.client('LIST'))
    .trim()
    .split('\n')
  asking.disconnect()
  return lines.map((line) => ({ cmd: /cmd=(\S+)/.exec(line)![1]! })).filter(({ cmd }) => cmd !== 'client|list')
}

async function appOf(job: Job): Promise<Everytick> {
  const store = await openSqlite({ path: ':memory:' })
  const app = everytick({ store, jobs: [job], logger: silent })
  closing.push(() => store.close())
  closing.push(() => app.stop({ drain: '0s' }))
  return app
}

describe.skipIf(whyNoRedis !== null)(`bullmq()${whyNoRedis ? ` (${whyNoRedis})` : ''}`, () => {
  beforeAll(async () => {
    redis = await openRedis()
  })
  afterEach(closeAll)
  afterAll(() => redis?.close())

  describe('that waits until it is accepted', () => {
    it('adds the occurrence under the id of its run and succeeds when Redis has it', async () => {
      const { queue, name } = place()
      const job = bullmq({ name: 'mail', queue, jobName: 'send', options: { priority: 3 }, payload })
      const app = await appOf(job)
      await app.schedules.upsert({ key: 'often', every: '1s', job, payload: { to: 'ada' } })
      await app.start()
      const { id } = await until('it has fired', async () => (await app.runs.list({ schedule: 'often' })).at(-1))
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', result: { queue: name, job: id } })
      const { name: called, opts, data } = (await queue.getJob(id))!
      expect({ called, priority: opts.priority }).toEqual({ called: 'send', priority: 3 })
      expect(Object.keys(data)).toEqual('run schedule scheduledAt slot attempt fence payload'.split(' '))
      const { schedule, slot, ...rest } = data
      const scheduledAt = (await app.runs.get(id))!.scheduledAt!.toISOString()
      expect(schedule).toEqual({ id: expect.any(String), key: 'often', workspace: 'default' })
      expect(slot).toMatchObject({ end: scheduledAt })
      expect(rest).toEqual({ run: id, scheduledAt, attempt: 1, fence: 1, payload: { to: 'ada' } })
    })

    it('does not add it twice, although the first job has ended and was removed meanwhile', async () => {
      const { queue, work } = place()
      const done: string[] = []
      work(({ run }) => done.push(run))
      /** Redis has it, and the answer is lost. */
      let answers = 0
      const deaf = new Proxy(queue, {
        get(target, key) {
          if (key !== 'add') return Reflect.get(target, key)
          return async (...args: Parameters<Queue['add']>) => {
            await target.add(...args)
            if (answers++ > 0) return
            await until('it is done and gone', async () => (await target.getJobState(args[2]!.jobId!)) === 'unknown')
            throw Object.assign(new Error('read ECONNRESET 10.1.2.3:6379'), { code: 'ECONNRESET' })
          }
        },
      })
      const job = bullmq({ name: 'mail', queue: deaf, options: { removeOnComplete: true }, retry: quick })
      const app = await appOf(job)
      const { id } = await app.enqueue(job)
      await app.start()
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 2 })
      expect(done).toEqual([id])
      expect(await queue.getJobState(id)).toBe('unknown')
    })
  })

  describe('that waits until it is completed', () => {
    const waiting = (queue: BullmqOptions['queue'], more: Partial<BullmqOptions> = {}) =>
      bullmq({ name: 'mail', queue, wait: 'completed', retry: quick, ...more })

    it('succeeds with what the worker of BullMQ returned', async () => {
      const { queue, work } = place()
      work(({ run }) => ({ sent: run }))
      const job = waiting(queue)
      const app = await appOf(job)
      await app.start()
      const runs = await Promise.all([app.enqueue(job), app.enqueue(job), app.enqueue(job)])
      for (const { id } of runs) {
        expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 1, result: { sent: id } })
      }
    })

    it('makes good for events that nobody heard, by looking', async () => {
      const { queue } = place()
      const job = waiting(queue)
      const app = await appOf(job)
      const { id } = await app.enqueue(job)
      await app.start()
      const added = await until('it is added', () => queue.getJob(id))
      const worker = new Worker(queue.name, null, { connection: redis.connection })
      closing.push(() => worker.close(true))
      const taken = await until('it is taken', () => worker.getNextJob('token'))
      const client = await queue.getBackend().client
      await client.del(queue.toKey('events'))
      await taken.moveToCompleted('by hand', 'token', false)
      await client.del(queue.toKey('events'))
      expect(added.id).toBe(id)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', result: 'by hand' })
    })

    it('lets BullMQ do a job again whose attempt failed, and tells why in the journal', async () => {
      const { queue, work, jobs } = place()
      const seen: number[] = []
      work(({ attempt }) => {
        seen.push(attempt)
        if (attempt < 3) throw new Error(`not on day ${attempt}`)
        return 'at last'
      })
      const job = waiting(queue)
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 3, result: 'at last' })
      expect(seen).toEqual([1, 2, 3])
      expect(await jobs()).toHaveLength(1)
      expect((await app.runs.journal(id)).map(({ data }) => data)).toMatchObject([
        { error: { name: 'BullmqJobFailed', message: 'not on day 1', code: 'BULLMQ_FAILED' } },
        { error: { name: 'BullmqJobFailed', message: 'not on day 2', code: 'BULLMQ_FAILED' } },
      ])
    })

    it('fails for good when BullMQ has tried as often as it was told to', async () => {
      const { queue, work } = place()
      let tries = 0
      work(() => {
        tries++
        throw new Error('no such address')
      })
      const job = waiting(queue, { options: { attempts: 2 } })
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      expect(await app.runs.wait(id)).toMatchObject({
        state: 'failed',
        attempt: 1,
        error: { message: 'no such address', code: 'BULLMQ_FAILED', detail: { attemptsMade: 2 } },
      })
      expect(tries).toBe(2)
    })

    it('fails for good when the worker says that trying again is no use, and is done again by a retry', async () => {
      const { queue, work } = place()
      let mended = false
      work(() => {
        if (!mended) throw new UnrecoverableError('the letter is lost')
        return 'found'
      })
      const job = waiting(queue)
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'BULLMQ_FAILED' } })
      mended = true
      await app.runs.retry(id)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 1, result: 'found' })
    })

    it('takes a job out again that nobody has begun when its run is cancelled', async () => {
      const { queue, jobs } = place()
      const job = waiting(queue)
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      await until('it is added', () => queue.getJob(id))
      await app.runs.cancel(id)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'cancelled' })
      expect(await jobs()).toEqual([])
    })

    it('takes it out when its attempt took too long, and adds it again with the next', async () => {
      const { queue, work } = place()
      const job = waiting(queue, { timeout: '1s', retry: { ...quick, attempts: 10, base: '1s' } })
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      await until('it is added', () => queue.getJob(id))
      await until('it is taken out', async () => (await queue.getJobState(id)) === 'unknown')
      work(({ attempt }) => attempt)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded' })
      const [first] = await app.runs.journal(id)
      expect(first).toMatchObject({ data: { error: { code: 'RUN_TIMEOUT' } } })
    })

    it('leaves it in the queue when the app stops, and the next app joins it', async () => {
      const { queue, work, jobs } = place()
      const job = waiting(queue)
      const store = await openSqlite({ path: ':memory:' })
      const first = everytick({ store, jobs: [job], logger: silent })
      const second = everytick({ store, jobs: [job], logger: silent })
      closing.push(() => store.close())
      closing.push(() => second.stop({ drain: '0s' }))
      await first.start()
      const { id } = await first.enqueue(job)
      await until('it is added', () => queue.getJob(id))
      await first.stop({ drain: '0s' })
      expect(await queue.getJobState(id)).toBe('waiting')
      await second.start()
      work(() => 'done')
      expect(await second.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 1, result: 'done' })
      expect(await jobs()).toHaveLength(1)
    })

    it('says so when somebody removes the job, and adds it again', async () => {
      const { queue, work } = place()
      const job = waiting(queue)
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      const added = await until('it is added', () => queue.getJob(id))
      await added.remove()
      work(({ attempt }) => attempt)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 2, result: 2 })
      expect((await app.runs.journal(id))[0]).toMatchObject({ data: { error: { code: 'BULLMQ_REMOVED' } } })
    })

    it('has the job kept until its end was seen, whatever queue and worker say', async () => {
      const { name, connection, work } = place()
      const queue = new Queue(name, { connection, defaultJobOptions: { removeOnComplete: true, removeOnFail: true } })
      closing.push(() => queue.close())
      work(() => 'kept', { removeOnComplete: { count: 0 } })
      const job = waiting(queue)
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', result: 'kept' })
      expect(await queue.getJobState(id)).toBe('completed')
    })
  })

  describe.skipIf(process.env.REDIS_URL !== undefined)('on a Redis of its own', () => {
    it('listens to a queue once, however many wait', async () => {
      const own = await ownRedis()
      const { queue, work, connection } = place(own.connection)
      const job = bullmq({ name: 'mail', queue, wait: 'completed' })
      const app = await appOf(job)
      await app.start()
      const runs = await Promise.all(Array.from({ length: 5 }, () => app.enqueue(job)))
      for (const { id } of runs) await until('it is added', () => queue.getJob(id))
      const listening = (await clientsOf(connection)).filter(({ cmd }) => cmd === 'xread')
      expect(listening).toHaveLength(1)
      work(() => null)
      for (const { id } of runs) expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded' })
    })

    it('opens what it needs where it is only told the place, and closes it when it is idle', async () => {
      const { connection } = await ownRedis()
      const job = bullmq({ name: 'mail', queue: { name: 'mail', connection }, wait: 'completed' })
      const worker = new Worker('mail', async () => 'sent', { connection })
      const app = await appOf(job)
      await app.start()
      const before = (await clientsOf(connection)).length
      const { id } = await app.enqueue(job)
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', result: 'sent' })
      expect((await clientsOf(connection)).length).toBe(before + 2)
      await until('its connections are closed', async () => (await clientsOf(connection)).length === before)
      expect((await app.runs.wait(await app.enqueue(job))).result).toBe('sent')
      await worker.close()
    })

    it('goes on waiting while Redis is away, and hears of the end when it is back', async () => {
      const own = await ownRedis()
      const { queue, work, jobs } = place(own.connection)
      const job = bullmq({ name: 'mail', queue, wait: 'completed', retry: { attempts: 1 } })
      const app = await appOf(job)
      await app.start()
      const { id } = await app.enqueue(job)
      await until('it is added', () => queue.getJob(id))
      await own.stop()
      await own.start()
      work(() => 'after all')
      expect(await app.runs.wait(id)).toMatchObject({ state: 'succeeded', attempt: 1, result: 'after all' })
      expect(await jobs()).toHaveLength(1)
    })

    it('fails an attempt that cannot be added, with the kind of trouble and no address', async () => {
      const { connection, stop } = await ownRedis()
      await stop()
      const options = { maxRetriesPerRequest: 0, retryStrategy: () => null }
      const queue = { name: 'mail', connection: { ...connection, ...options } }
      const job = bullmq({ name: 'mail', queue, retry: { attempts: 1 } })
      const app = await appOf(job)
      await app.start()
      const { error, state } = await app.runs.wait(await app.enqueue(job))
      expect({ state, error }).toMatchObject({ state: 'failed', error: { code: 'BULLMQ_UNREACHABLE' } })
      expect(JSON.stringify(error)).not.toMatch(/127\.0\.0\.1|6379/)
    })

    it('tells by one word what Redis has against a job', async () => {
      const { connection } = await ownRedis()
      const admin = new Redis(connection)
      closing.push(async () => admin.disconnect())
      await admin.config('SET', 'maxmemory', '1')
      const queue = { name: 'mail', connection }
      const job = bullmq({ name: 'mail', queue, retry: { attempts: 1 }, payload })
      const app = await appOf(job)
      await app.start()
      const { error, state } = await app.runs.wait(await app.enqueue(job, { to: 'marker-of-a-secret' }))
      expect({ state, error }).toMatchObject({
        state: 'failed',
        error: { code: 'BULLMQ_REFUSED', detail: { redis: 'OOM' } },
      })
      expect(JSON.stringify(error)).not.toContain('marker-of-a-secret')
    })
  })
})
