/** `app.runs` and `app.on`: looking at runs, waiting for them, and what operators do to them. */
import { describe, expect, it } from 'vitest'
import { Discard, defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const fine = defineJob({ name: 'fine', run: () => 'done' })
const broken = defineJob({
  name: 'broken',
  retry: { attempts: 2, backoff: 'fixed', base: '10s' },
  run() {
    throw new TypeError('no such table')
  },
})
const gone = defineJob({
  name: 'gone',
  run() {
    throw new Discard('workspace is gone')
  },
})
const patient = defineJob({
  name: 'patient',
  run: (ctx) =>
    new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason), { once: true })),
})
const jobs = [fine, broken, gone, patient]
const nobody = '00000000-0000-7000-8000-000000000000'
const start = (more: object = {}): Promise<TestEverytick> =>
  createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs, ...more })

describe('runs', () => {
  it('are listed newest first, page by page, by whatever they are asked for', async () => {
    const minutely = schedule({ key: 'minutely', cron: '* * * * *', job: fine, workspace: 't_1' })
    await using t = await start({ schedules: [minutely] })
    await t.app.enqueue(broken)
    await t.advance('5m')
    const list = t.app.runs.list
    const all = await list()
    expect(all).toHaveLength(6)
    const [one, two] = await list({ limit: 2 })
    expect([one, two]).toEqual(all.slice(0, 2))
    expect(await list({ limit: 2, after: two! })).toEqual(all.slice(2, 4))
    expect(await list({ schedule: 'minutely', workspace: 't_1' })).toHaveLength(5)
    expect(await list({ job: 'broken' })).toHaveLength(1)
    expect(await list({ state: 'failed' })).toHaveLength(1)
    expect(await list({ state: ['pending', 'running'] })).toHaveLength(0)
    expect(await list({ queue: 'mail' })).toHaveLength(0)
    await expect(list({ schedule: 'yearly' })).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
    await expect(list({ state: 'done' as 'failed' })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    await expect(list({ staet: 'failed' } as object)).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
  })

  it('that do not exist are null to look at and refused to touch', async () => {
    await using t = await start()
    expect(await t.app.runs.get(nobody)).toBeNull()
    await expect(t.app.runs.cancel(nobody)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    await expect(t.app.runs.wait(nobody)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    await expect(t.app.runs.get("'; drop table runs")).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    await expect(t.app.runs.retry(nobody)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    expect(await t.app.runs.retry([nobody])).toEqual([])
  })

  it('that failed can be brought back, with a new series of attempts', async () => {
    await using t = await start()
    const { id } = await t.app.enqueue(broken)
    await t.advance('1m')
    expect(t.runs()).toMatchObject([
      { state: 'failed', attempt: 2, error: { name: 'TypeError', message: 'no such table' } },
    ])
    expect(await t.app.runs.retry([id])).toEqual([id])
    await t.advance('1m')
    expect(t.runs()).toMatchObject([{ state: 'failed', attempt: 2 }])
    expect((await t.app.runs.journal(id)).map(({ kind }) => kind)).toEqual(['retry', 'retried', 'retry'])
  })

  it('are retried one by one only when they failed', async () => {
    await using t = await start()
    const [bad, good] = [await t.app.enqueue(gone), await t.app.enqueue(fine)]
    await t.advance('1m')
    expect(await t.app.runs.retry(bad.id, { by: 'ana' })).toMatchObject({ id: bad.id, state: 'pending', attempt: 0 })
    await expect(t.app.runs.retry(good.id)).rejects.toMatchObject({ code: 'RUN_NOT_FAILED' })
    await expect(t.app.runs.retry(nobody)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    expect(await t.app.runs.journal(bad.id)).toMatchObject([{ kind: 'retried', data: { by: 'ana' } }])
  })

  it('that failed are brought back in bulk, by what they were and how they failed', async () => {
    await using t = await start()
    for (const workspace of ['t_1', 't_2']) await t.app.enqueue(gone, { workspace })
    await t.app.enqueue(broken, { workspace: 't_1' })
    await t.advance('1m')
    const { retry } = t.app.runs
    const dry = (filter: object): Promise<number> => retry({ ...filter, dryRun: true }).then(({ length }) => length)
    expect(await dry({})).toBe(3)
    expect(await dry({ workspace: 't_1' })).toBe(2)
    expect(await dry({ job: 'gone' })).toBe(2)
    expect(await dry({ error: 'TypeError' })).toBe(1)
    expect(await dry({ error: 'is gone', workspace: 't_2' })).toBe(1)
    expect(await dry({ since: '2027-05-01T00:00:05Z' })).toBe(1)
    expect(await dry({ limit: 2 })).toBe(2)
    expect(t.runs({ state: 'failed' })).toHaveLength(3)
    expect(await retry({ job: 'gone' }, { by: 'ana' })).toHaveLength(2)
    expect(await dry({})).toBe(1)
  })

  it('are cancelled in bulk, with a count of each kind', async () => {
    await using t = await start()
    for (let n = 0; n < 3; n++) await t.app.enqueue(fine, { delay: '1h', workspace: 't_1' })
    const [slow, done] = [await t.app.enqueue(patient), await t.app.enqueue(fine)]
    await t.advance('1s')
    const none = { cancelled: 0, cancelling: 0, finished: 0, notFound: 0 }
    expect(await t.app.runs.cancel({ workspace: 't_1', dryRun: true })).toEqual({ ...none, cancelled: 3 })
    expect(await t.app.runs.cancel({ workspace: 't_1', limit: 2 })).toEqual({ ...none, cancelled: 2 })
    expect(await t.app.runs.cancel({ state: 'running' })).toEqual({ ...none, cancelling: 1 })
    const ids = [slow.id, done.id, nobody]
    expect(await t.app.runs.cancel(ids)).toEqual({ ...none, cancelling: 1, finished: 1, notFound: 1 })
    await expect(t.app.runs.cancel({ limit: 5 })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })

  it('are cancelled at once while they wait, and by their signal while they run', async () => {
    await using t = await start()
    const waiting = await t.app.enqueue(fine, { delay: '1h' })
    expect(await t.app.runs.cancel(waiting.id)).toBe('cancelled')
    expect(await t.app.runs.cancel(waiting.id)).toBe('finished')
    const running = await t.app.enqueue(patient)
    await t.advance('1s')
    expect(await t.app.runs.cancel(running.id)).toBe('cancelling')
    await t.advance('1m')
    expect((await t.app.runs.get(running.id))!.state).toBe('cancelled')
  })
})

describe('a wait', () => {
  it('ends when the run does', async () => {
    await using t = await start()
    const handle = await t.app.enqueue(fine, { delay: '1m' })
    const waiting = t.app.runs.wait(handle, { timeout: '2h' })
    await t.advance('1m')
    expect(await waiting).toMatchObject({ state: 'succeeded', result: 'done' })
  })

  it('is over after its timeout, and leaves the run as it is', async () => {
    await using t = await start()
    const handle = await t.app.enqueue(fine, { delay: '1h' })
    const refused = expect(t.app.runs.wait(handle, { timeout: '5m' })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' })
    await t.advance('10m')
    await refused
    expect(t.runs()).toMatchObject([{ state: 'pending' }])
  })

  it('is over when the app stops', async () => {
    const t = await start()
    const handle = await t.app.enqueue(fine, { delay: '1h' })
    const refused = expect(t.app.runs.wait(handle)).rejects.toMatchObject({ code: 'NOT_STARTED' })
    await t[Symbol.asyncDispose]()
    await refused
  })
})

describe('a listener', () => {
  it('hears what happens to runs, as they then stand, until it is taken away', async () => {
    await using t = await start()
    const heard: unknown[] = []
    const names = ['run.started', 'run.succeeded', 'run.failed', 'run.retry'] as const
    const off = names.map((name) => t.app.on(name, ({ run }) => heard.push([name, run.job, run.state])))
    await t.app.enqueue(broken)
    await t.app.enqueue(gone, { delay: '1m' })
    await t.advance('5m')
    expect(heard).toEqual([
      ['run.started', 'broken', 'running'],
      ['run.retry', 'broken', 'pending'],
      ['run.started', 'broken', 'running'],
      ['run.failed', 'broken', 'failed'],
      ['run.started', 'gone', 'running'],
      ['run.failed', 'gone', 'failed'],
    ])
    for (const stop of off) stop()
    await t.app.enqueue(fine)
    await t.advance('1s')
    expect(heard).toHaveLength(6)
  })

  it('that throws or rejects is logged and disturbs nobody', async () => {
    const lines: string[] = []
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void lines.push(message) }
    await using t = await start({ logger })
    t.app.on('run.succeeded', () => {
      throw new Error('listener')
    })
    t.app.on('run.succeeded', async () => {
      throw new Error('async listener')
    })
    await t.app.enqueue(fine)
    await t.advance('1s')
    expect(t.runs()).toMatchObject([{ state: 'succeeded' }])
    expect(lines).toEqual(['a listener of "run.succeeded" threw', 'a listener of "run.succeeded" threw'])
  })

  it('is told of a run whose job this worker does not have, which goes back for others', async () => {
    await using t = await start()
    const heard: string[] = []
    t.app.on('job.unknown', ({ run }) => void heard.push(run.job))
    await t.store.runs.enqueue([
      {
        id: nobody,
        workspace: 'default',
        job: 'of-a-newer-build',
        queue: 'default',
        trigger: 'enqueue',
        priority: 5,
        payload: null,
        policy: fine.policy,
        schedule: null,
        ...{ slot: null, group: null, overlap: 'allow' },
        due: { delayMs: 0 },
        idempotencyKey: null,
      },
    ])
    await t.advance('1s')
    expect(heard).toEqual(['of-a-newer-build'])
    expect(t.runs()).toMatchObject([{ state: 'pending', attempt: 0 }])
  })
})

describe('the log', () => {
  it('has what handlers say, with the run it belongs to', async () => {
    const lines: unknown[] = []
    const note = (message: string, data?: unknown): void => void lines.push([message, data])
    const talker = defineJob({ name: 'talker', run: (ctx) => ctx.log.info('rendered', { pages: 3 }) })
    await using t = await start({ jobs: [talker], logger: { debug: note, info: note, warn: note, error: note } })
    const { id } = await t.app.enqueue(talker)
    await t.advance('1s')
    expect(lines).toContainEqual(['rendered', { run: id, attempt: 1, workspace: 'default', data: { pages: 3 } }])
  })
})
