/** What handlers may do to the engine: anything they return, throw or never finish is on record, and the process lives. */
import { afterEach, describe, expect, it } from 'vitest'
import type { JobContext } from '../../src/engine/context.ts'
import { Discard, defineJob, RetryAfter } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const NOW = '2027-01-01T00:00:00Z'
let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})

const retry = { attempts: 2, backoff: 'fixed', base: '10s', max: '10s' } as const

async function runOnce(run: (ctx: JobContext) => unknown, options: { timeout?: string } = {}) {
  const job = defineJob({ name: 'job', retry, ...options, run })
  t = await createTestEverytick({ now: NOW, jobs: [job] })
  const { id } = await t.app.enqueue(job)
  await t.advance('1s')
  return async () => ({
    run: (await t.store.history.run(id))!,
    journal: (await t.store.history.journal({ runId: id })).map(({ kind }) => kind),
  })
}

describe('a handler', () => {
  it('that returns plain data has it stored', async () => {
    const { run } = await (await runOnce(() => ({ sent: 3 })))()
    expect(run).toMatchObject({ state: 'succeeded', result: { sent: 3 }, attempt: 1, fence: 1, error: null })
  })

  it('that returns nothing has succeeded all the same', async () => {
    expect((await (await runOnce(() => undefined))()).run).toMatchObject({ state: 'succeeded', result: null })
  })

  it.each([
    ['a BigInt', () => 10n, 'JSON_INVALID'],
    [
      'a cycle',
      () => {
        const cycle: Record<string, unknown> = {}
        cycle.self = cycle
        return cycle
      },
      'JSON_INVALID',
    ],
    ['ten megabytes', () => 'x'.repeat(10_000_000), 'JSON_TOO_LARGE'],
    [
      'something that throws when looked at',
      () => ({
        get trap() {
          throw new Error('boo')
        },
      }),
      'JSON_INVALID',
    ],
  ])('that returns %s has failed for good, with the reason', async (_, run, code) => {
    expect((await (await runOnce(run))()).run).toMatchObject({ state: 'failed', attempt: 1, error: { code } })
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'no'],
    ['a symbol', Symbol('odd')],
    ['an object without a prototype', Object.create(null)],
    [
      'an error with a message that throws',
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('boo')
        },
      }),
    ],
  ])('that throws %s is tried again and then dead', async (_, thrown) => {
    const look = await runOnce(() => {
      throw thrown
    })
    expect((await look()).run).toMatchObject({ state: 'pending', attempt: 1 })
    await t.advance('20s')
    const { run, journal } = await look()
    expect(run).toMatchObject({ state: 'failed', attempt: 2 })
    expect(run.error!.message).not.toBe('')
    expect(journal).toEqual(['retry'])
  })

  it('that never returns ends by its timeout, with its signal aborted, and is tried again', async () => {
    const signals: AbortSignal[] = []
    const look = await runOnce(
      (ctx) => {
        signals.push(ctx.signal)
        return new Promise(() => {})
      },
      { timeout: '30s' },
    )
    await t.advance('40s')
    expect(await look()).toMatchObject({ run: { attempt: 2 }, journal: ['timed_out'] })
    expect(signals[0]!.reason).toMatchObject({ code: 'RUN_TIMEOUT' })
    await t.advance('1m')
    expect((await look()).run).toMatchObject({ state: 'failed', error: { code: 'RUN_TIMEOUT' } })
  })

  it.each([
    ['returns', (): unknown => ({ sent: 3 }), { state: 'succeeded', result: { sent: 3 } }],
    [
      'gives up for good',
      (): unknown => {
        throw new Discard('gone')
      },
      { state: 'failed', error: { message: 'gone' } },
    ],
  ])('that %s after its timeout changes nothing, and what it did is in the journal', async (_, end, verdict) => {
    let finish = (): void => {}
    const work = (ctx: JobContext): unknown =>
      ctx.run.attempt === 1 ? new Promise<void>((resolve) => (finish = resolve)).then(end) : new Promise(() => {})
    const look = await runOnce(work, { timeout: '30s' })
    await t.advance('31s')
    expect((await look()).journal).toEqual(['timed_out'])
    finish()
    await t.advance('15s')
    const { run, journal } = await look()
    expect(run).toMatchObject({ state: 'running', attempt: 2 })
    expect(journal).toEqual(['timed_out', 'refused'])
    const [, refused] = await t.store.history.journal({ runId: run.id })
    expect(refused!.data).toMatchObject({ fence: 1, verdict })
  })

  it.each(['throwing', 'returning'])('that heeds its timeout by %s has timed out, and nothing else', async (how) => {
    const heed = (resolve: () => void, reject: (error: Error) => void): void =>
      how === 'returning' ? resolve() : reject(new Error('socket hang up'))
    const work = (ctx: JobContext): Promise<void> =>
      new Promise((resolve, reject) => ctx.signal.addEventListener('abort', () => heed(resolve, reject)))
    const look = await runOnce(work, { timeout: '30s' })
    await t.advance('35s')
    const { run, journal } = await look()
    expect(journal).toEqual(['timed_out'])
    expect(run.error).toMatchObject({ code: 'RUN_TIMEOUT' })
  })

  it('that works longer than its lease keeps it', async () => {
    let finish = (): void => {}
    const look = await runOnce(() => new Promise<void>((resolve) => (finish = resolve)))
    await t.advance('5m')
    expect((await look()).run).toMatchObject({ state: 'running', attempt: 1 })
    finish()
    await t.advance('1s')
    expect((await look()).run).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('that throws RetryAfter comes back then, without losing an attempt', async () => {
    let calls = 0
    const look = await runOnce(() => {
      if (++calls < 4) throw new RetryAfter('2m')
      return calls
    })
    await t.advance('10m')
    const { run, journal } = await look()
    expect(run).toMatchObject({ state: 'succeeded', result: 4, attempt: 1, fence: 4 })
    expect(journal).toEqual(['postponed', 'postponed', 'postponed'])
  })

  it('that throws Discard has failed at once', async () => {
    const { run } = await (
      await runOnce(() => {
        throw new Discard('workspace is gone')
      })
    )()
    expect(run).toMatchObject({ state: 'failed', attempt: 1, error: { name: 'Discard', message: 'workspace is gone' } })
  })

  it('is told to stop when an operator cancels, and ends as cancelled', async () => {
    const look = await runOnce(
      (ctx) => new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
    )
    const { run } = await look()
    expect(await t.store.runs.cancel(run.id, 'ana')).toBe('cancelling')
    await t.advance('1m')
    expect((await look()).run).toMatchObject({ state: 'cancelled' })
  })

  it.each([
    ['heeds its signal by returning', undefined, null],
    ['finishes all the same', { sent: 2 }, { sent: 2 }],
  ])('that %s ends as cancelled when an operator cancels, and its result is kept', async (_, returned, result) => {
    const look = await runOnce(
      (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(returned))),
    )
    await t.store.runs.cancel((await look()).run.id, 'ana')
    await t.advance('1m')
    expect((await look()).run).toMatchObject({ state: 'cancelled', result, cancelRequested: true })
  })

  it('may take its context apart', async () => {
    const look = await runOnce(({ run, workspace, log, progress, heartbeat, idempotencyKey }) => {
      log.debug('half way')
      progress(0.5, 'half way')
      return heartbeat().then(() => [run.attempt, run.id === idempotencyKey, workspace])
    })
    const progress = { fraction: 0.5, note: 'half way' }
    expect((await look()).run).toMatchObject({ state: 'succeeded', result: [1, true, 'default'], progress })
  })

  it('that answers something like a promise is waited for', async () => {
    const later = (resolve: (sent: number) => void) => void queueMicrotask(() => resolve(3))
    // biome-ignore lint/suspicious/noThenProperty: what this is about
    const { run } = await (await runOnce(() => ({ then: later })))()
    expect(run).toMatchObject({ state: 'succeeded', result: 3 })
  })

  it('sees its slot, its attempt and one idempotency key for all attempts', async () => {
    const seen: JobContext[] = []
    await runOnce((ctx) => {
      seen.push(ctx)
      if (ctx.run.attempt === 1) throw new Error('retry')
    })
    await t.advance('1m')
    expect(seen.map(({ run }) => run.attempt)).toEqual([1, 2])
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(seen[0]!.slot).toBeUndefined()
  })
})

describe('a worker', () => {
  it('hands a run of a job it does not know back to the queue, uncounted, and says so', async () => {
    const known = defineJob({ name: 'known', run: () => {} })
    const other = defineJob({ name: 'other', queue: 'default', run: () => {} })
    t = await createTestEverytick({ now: NOW, jobs: [known] })
    const events: string[] = []
    t.app.on('job.unknown', ({ run }) => events.push(run.job))
    const base = {
      id: '01890000-0000-7000-8000-000000000001',
      workspace: 'default',
      trigger: 'enqueue',
      priority: 5,
      payload: null,
      schedule: null,
      slot: null,
      group: null,
      overlap: 'allow',
      due: { delayMs: 0 },
      idempotencyKey: null,
    } as const
    await t.store.runs.enqueue([{ ...base, job: other.name, queue: 'default', policy: other.policy }])
    await t.advance('1s')
    expect(events).toEqual(['other'])
    expect(await t.store.history.run(base.id)).toMatchObject({ state: 'pending', attempt: 0, fence: 1 })
    expect((await t.store.history.journal({ runId: base.id })).map(({ kind }) => kind)).toEqual(['unknown_job'])
  })

  it('that crashes loses its leases to the next, and the runs are executed again under a higher fence', async () => {
    const fences: number[] = []
    const job = defineJob({
      name: 'job',
      retry,
      run: (ctx) => (fences.push(ctx.run.fence) === 1 ? new Promise(() => {}) : 'done'),
    })
    t = await createTestEverytick({ now: NOW, jobs: [job] })
    const { id } = await t.app.enqueue(job)
    await t.advance('1s')
    await t.crash()
    await t.advance('1m')
    await t.advance('1m')
    expect(fences).toEqual([1, 2])
    expect(await t.store.history.run(id)).toMatchObject({ state: 'succeeded', fence: 2, result: 'done' })
    expect((await t.store.history.journal({ runId: id })).map(({ kind }) => kind)).toEqual(['lost'])
  })
})

describe('a run that may happen at most once', () => {
  const once = (run: (ctx: JobContext) => unknown) => defineJob({ name: 'job', delivery: 'at_most_once', run })

  it('is never begun again when its worker crashed: it failed as abandoned', async () => {
    let begun = 0
    const job = once(() => {
      begun++
      return new Promise(() => {})
    })
    t = await createTestEverytick({ now: NOW, jobs: [job] })
    const { id } = await t.app.enqueue(job)
    await t.advance('1s')
    await t.crash()
    await t.advance('1m')
    await t.advance('10m')
    expect(begun).toBe(1)
    expect(await t.store.history.run(id)).toMatchObject({ state: 'failed', error: { code: 'RUN_ABANDONED' } })
  })

  it('is never begun again when it threw', async () => {
    let begun = 0
    const job = once(() => {
      begun++
      throw new Error('half done')
    })
    t = await createTestEverytick({ now: NOW, jobs: [job] })
    const { id } = await t.app.enqueue(job)
    await t.advance('10m')
    expect(begun).toBe(1)
    expect(await t.store.history.run(id)).toMatchObject({ state: 'failed', error: { message: 'half done' } })
  })
})
