/** Quotas in code: off until the option sets them, then one gate for every verb that adds to a workspace, on both stores. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, EverytickError, everytick, type QuotasOption } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { readQuotas } from '../../src/scheduler/read-quotas.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { OPEN_PLACES } from './open-resources.ts'

const START = Date.parse('2027-05-01T10:00:00Z')
const noop = defineJob({ name: 'noop', run: () => {} })
const greet = defineJob({ name: 'greet', payload: z.object({ text: z.string() }), run: () => {} })
const failing = defineJob({
  name: 'failing',
  retry: { attempts: 1 },
  run: () => {
    throw new Error('it fails always')
  },
})
const jobs = [noop, greet, failing]

/** The quota that refuses, or what the call answers. */
const outcome = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    await call
    return 'done'
  } catch (error) {
    if (error instanceof EverytickError && error.quota) return `${error.code} ${error.quota.name}`
    throw error
  }
}
const key = (n: number, more: object = {}) => ({ key: `s${n}`, every: '1h', job: noop, workspace: 'acme', ...more })
const delayed = { workspace: 'acme', delay: '1h' } as const
const acme = (own: QuotasOption['default'] & object): QuotasOption => ({ workspaces: { acme: own } })

describe.each(OPEN_PLACES)('quotas in code on %s', (_, open) => {
  const stage = async (quotas?: QuotasOption) => {
    const place = await open(START)
    const t = await startedIn(place, { jobs, ...(quotas ? { quotas } : {}) })
    return {
      ...{ place, t, app: t.app },
      async [Symbol.asyncDispose]() {
        await t[Symbol.asyncDispose]()
        await place[Symbol.asyncDispose]()
      },
    }
  }

  it('are off until the option sets them', async () => {
    await using s = await stage()
    await s.app.schedules.upsertMany([key(1, { every: '100ms', queue: 'q1', tags: ['t'] }), key(2)])
    const bytes = { text: 'x'.repeat(100_000) }
    expect(await outcome(s.app.enqueue(greet, bytes, delayed))).toBe('done')
  })

  it('count new schedules alone, and a whole list or none', async () => {
    await using s = await stage(acme({ schedules: 3 }))
    const { schedules } = s.app
    await schedules.upsertMany([key(1), key(2)])
    expect(await outcome(schedules.upsertMany([key(1), key(3), key(4)]))).toBe('QUOTA_REACHED schedules')
    expect(await schedules.get('acme', 's3')).toBeNull()
    await schedules.upsertMany([key(1, { every: '2h' }), key(2), key(3)])
    expect(await outcome(schedules.upsert(key(2, { every: '3h' })))).toBe('done')
    expect(await outcome(schedules.edit('acme', 's1', { description: 'hourly' }))).toBe('done')
    expect(await outcome(schedules.create(key(4)))).toBe('QUOTA_REACHED schedules')
    expect(await outcome(schedules.create(key(4, { workspace: 'other' })))).toBe('done')
    await schedules.remove('acme', 's2')
    expect(await outcome(schedules.create(key(4)))).toBe('done')
  })

  it('hold inside a transaction of the caller, and a transaction that is undone uses nothing', async () => {
    await using s = await stage(acme({ schedules: 2, pendingRuns: 2, payloadBytesPerDay: 1000 }))
    const { place, app } = s
    const undone = place.within(async (tx) => {
      await app.schedules.upsertMany([key(1), key(2)], { tx })
      await app.enqueueMany(
        greet,
        [1, 2].map(() => ({ payload: { text: 'hello' }, ...delayed })),
        { tx },
      )
      expect(await outcome(app.enqueue(greet, { text: 'hello' }, { ...delayed, tx }))).toBe('QUOTA_REACHED pendingRuns')
      throw new Error('the caller has changed their mind')
    })
    await expect(undone).rejects.toThrow('changed their mind')
    await place.within(async (tx) => {
      await app.schedules.upsertMany([key(1), key(2)], { tx })
      expect(await outcome(app.schedules.upsert(key(3), { tx }))).toBe('QUOTA_REACHED schedules')
      await app.enqueue(noop, { ...delayed, tx })
    })
    expect(await place.store.quotas.count('acme', 'schedules', { upTo: 10 })).toBe(2)
    expect(await outcome(app.enqueueMany(noop, [delayed, delayed]))).toBe('QUOTA_REACHED pendingRuns')
    expect(await outcome(app.enqueue(noop, delayed))).toBe('done')
    expect(await outcome(app.enqueue(noop, delayed))).toBe('QUOTA_REACHED pendingRuns')
  })

  it('hold for sync: nothing of it is written', async () => {
    await using place = await open(START)
    const schedules = [key(1), key(2), key(3, { workspace: 'other' })]
    await using t = await startedIn(place, { jobs, quotas: acme({ schedules: 2 }), schedules })
    expect(await outcome(t.app.sync())).toBe('done')
    const app = everytick({
      store: place.store,
      jobs,
      quotas: acme({ schedules: 2 }),
      schedules: [...schedules, key(4)],
    })
    const more = await app.sync().catch((error: EverytickError) => error)
    expect(more).toMatchObject({ code: 'QUOTA_REACHED', quota: { name: 'schedules', limit: 2, used: 2 } })
    expect(await place.store.schedules.get('acme', 's4')).toBeNull()
  })

  it('count a name once, whatever uses it', async () => {
    await using s = await stage(acme({ queues: 2, tags: 2 }))
    const { app } = s
    await app.schedules.upsert(key(1, { queue: 'mail', tags: ['x', 'y'] }))
    await app.enqueue(noop, { ...delayed, queue: 'sms' })
    expect(await outcome(app.enqueue(noop, { ...delayed, queue: 'mail' }))).toBe('done')
    expect(await outcome(app.schedules.upsert(key(2, { queue: 'sms', tags: ['y'] })))).toBe('done')
    expect(await outcome(app.enqueue(noop, { ...delayed, queue: 'fax' }))).toBe('QUOTA_REACHED queues')
    expect(await outcome(app.schedules.edit('acme', 's2', { tags: ['x', 'z'] }))).toBe('QUOTA_REACHED tags')
    expect(
      await outcome(
        app.enqueueMany(
          noop,
          ['a', 'b'].map((queue) => ({ ...delayed, queue })),
        ),
      ),
    ).toBe('QUOTA_REACHED queues')
    const long = 'l'.repeat(150)
    await app.schedules.upsert(key(1, { queue: 'mail', tags: [] }))
    s.t.clock.moveBy(3000)
    expect(await outcome(app.schedules.upsert(key(1, { queue: 'mail', tags: [long] })))).toBe('done')
    s.t.clock.moveBy(3000)
    expect(await outcome(app.schedules.upsert(key(2, { queue: 'sms', tags: [long, 'y'] })))).toBe('done')
  })

  it('never lose an occurrence: planning is refused nothing', async () => {
    await using s = await stage(acme({ pendingRuns: 2, smallestInterval: '1m', payloadBytesPerDay: 60 }))
    const { app, t } = s
    await app.schedules.upsert(key(1, { every: '1m', job: greet, payload: { text: 'hello' } }))
    expect(await outcome(app.schedules.upsert(key(2, { every: '59s' })))).toBe('QUOTA_REACHED smallestInterval')
    expect(await outcome(app.schedules.edit('acme', 's1', { cron: '*/30 * * * * *' }))).toBe(
      'QUOTA_REACHED smallestInterval',
    )
    for (let i = 0; i < 2; i++) await app.enqueue(noop, { ...delayed, delay: '1d' })
    expect(await outcome(app.schedules.trigger('acme', 's1'))).toBe('QUOTA_REACHED pendingRuns')
    await t.advance('10m')
    expect(t.runs({ schedule: 's1', workspace: 'acme', state: 'succeeded' })).toHaveLength(10)
    expect(await app.audit()).toMatchObject({ ok: true })
  })

  it('count backfills by what they may have open, and failed runs that come back', async () => {
    await using s = await stage(acme({ pendingRuns: 5 }))
    const { app, t } = s
    await app.schedules.upsert(key(1))
    await app.enqueue(failing, { workspace: 'acme' })
    await app.enqueue(failing, { workspace: 'acme' })
    await t.advance('1s')
    const failed = t.runs({ job: 'failing', state: 'failed' }).map(({ id }) => id)
    expect(failed).toHaveLength(2)
    await app.enqueueMany(
      noop,
      [1, 2, 3, 4].map(() => delayed),
    )
    const span = { from: '2027-04-01T00:00:00Z', to: '2027-04-01T12:00:00Z' }
    expect(await outcome(app.schedules.backfill('acme', 's1', { ...span, concurrency: 2 }))).toBe(
      'QUOTA_REACHED pendingRuns',
    )
    expect(await outcome(app.schedules.backfill('acme', 's1', { ...span, dryRun: true }))).toBe('done')
    expect(await outcome(app.runs.retry(failed))).toBe('QUOTA_REACHED pendingRuns')
    expect(await outcome(app.runs.retry({ workspace: 'acme' }))).toBe('QUOTA_REACHED pendingRuns')
    expect(await outcome(app.schedules.backfill('acme', 's1', { ...span, concurrency: 1 }))).toBe('done')
    expect(await outcome(app.runs.retry(failed[0]!))).toBe('QUOTA_REACHED pendingRuns')
  })

  it('sum payload bytes over processes and start again with the next day', async () => {
    await using place = await open(START)
    const options = { jobs, quotas: acme({ payloadBytesPerDay: 1000 }) }
    await using one = await startedIn(place, options)
    await using two = await startedIn(place, options)
    const send = (t: TestEverytick, bytes: number) =>
      outcome(t.app.enqueue(greet, { text: 'x'.repeat(bytes - 11) }, delayed))
    expect(await send(one, 600)).toBe('done')
    expect(await send(one, 600)).toBe('QUOTA_SPENT payloadBytesPerDay')
    // A process adds what it was sent within a second, or when it stops.
    await one.app.stop()
    expect(await send(two, 600)).toBe('QUOTA_SPENT payloadBytesPerDay')
    expect(await send(two, 400)).toBe('done')
    const refused = await two.app.enqueue(greet, { text: '' }, delayed).catch((error: EverytickError) => error)
    expect(refused).toMatchObject({ retryAfterMs: 14 * 3_600_000, quota: { limit: 1000, used: 1000 } })
    await two.advance('14h')
    expect(await send(two, 900)).toBe('done')
  })

  it('share a quota between processes: none passes it by more than it lets through between two counts', async () => {
    await using place = await open(START)
    const options = { jobs, quotas: acme({ pendingRuns: 200 }) }
    await using one = await startedIn(place, options)
    await using two = await startedIn(place, options)
    let done = 0
    for (let round = 0; round < 30; round++) {
      const calls = Array.from({ length: 10 }, (_, i) => outcome((i % 2 ? one : two).app.enqueue(noop, delayed)))
      done += (await Promise.all(calls)).filter((each) => each === 'done').length
    }
    // The five calls of the other process in flight, and a hundredth of the limit.
    expect(done).toBeGreaterThanOrEqual(200)
    expect(done).toBeLessThanOrEqual(207)
    expect(await place.store.quotas.count('acme', 'pendingRuns', { upTo: 1000 })).toBe(done)
  })
})

describe('the streams of a workspace', () => {
  it('are limited for bound keys in each process, and a place that is given back is free', async () => {
    const app = everytick({ store: 'sqlite::memory:', jobs, quotas: acme({ streams: 2 }) })
    const { openStream } = coreOf(app).quotas
    const [first] = [openStream('acme'), openStream('acme')]
    expect(() => openStream('acme')).toThrow('workspace "acme" uses 2 of 2 of its quota streams')
    for (let i = 0; i < 20; i++) openStream('other')
    expect(() => openStream('other')).toThrow('uses 20 of 20')
    first!()
    first!()
    openStream('acme')
    expect(() => openStream('acme')).toThrow('quota streams')
    await app.stop()
  })
})

describe('the option quotas', () => {
  it('is read into numbers, with null for off', () => {
    expect(readQuotas(undefined)).toBeNull()
    const read = readQuotas({
      default: { schedules: 10, tags: 'off', smallestInterval: '1m' },
      workspaces: { t_42: { payloadBytesPerDay: 2 ** 40, queues: 0 } },
    })
    expect(read).toEqual({
      default: { schedules: 10, tags: null, smallestInterval: 60_000 },
      workspaces: new Map([['t_42', { payloadBytesPerDay: 2 ** 40, queues: 0 }]]),
    })
  })

  it.each<[string, unknown, RegExp]>([
    ['a quota that is none', { default: { schedule: 1 } }, /"schedule" is not an option of quotas.default/],
    ['a number that is none', { default: { schedules: '10' } }, /quotas.default.schedules must be a whole number/],
    ['a number below 0', { workspaces: { a: { tags: -1 } } }, /quotas.workspaces\["a"\].tags must be a whole number/],
    ['a duration that is none', { default: { smallestInterval: 'soon' } }, /quotas.default.smallestInterval/],
    ['a list of workspaces', { workspaces: [] }, /quotas.workspaces/],
    ['a workspace without a name', { workspaces: { '': {} } }, /a workspace in quotas.workspaces/],
    ['limits outside of default', { schedules: 1 }, /"schedules" is not an option of quotas/],
  ])('refuses %s', (_, given, message) => {
    expect(() => readQuotas(given as QuotasOption)).toThrow(message)
  })
})
