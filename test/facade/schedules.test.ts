/** `app.schedules`: what users do to schedules, on a real store in memory and a clock that stands still. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, schedule } from '../../src/index.ts'
import { coreOf } from '../../src/scheduler/core.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const noop = defineJob({ name: 'noop', run: () => {} })
const digest = defineJob({ name: 'send-digest', payload: z.object({ accountId: z.string() }), run: () => {} })
const start = (schedules = [] as ReturnType<typeof schedule>[]): Promise<TestEverytick> =>
  createTestEverytick({ now: '2027-05-01T00:00:30Z', jobs: [noop, digest], schedules })
const hourly = { key: 'hourly', every: '1h', job: noop } as const

describe('upsert', () => {
  it('creates, then changes, then leaves alone what is the same', async () => {
    await using t = await start()
    const created = await t.app.schedules.upsert(hourly)
    expect(created).toMatchObject({ created: true, changed: true, nextFireAt: new Date('2027-05-01T01:00:00Z') })
    const { id } = created
    expect(await t.app.schedules.upsert(hourly)).toEqual({ ...created, created: false, changed: false })
    const changed = await t.app.schedules.upsert({ ...hourly, every: '10m' })
    expect(changed).toEqual({ id, created: false, changed: true, nextFireAt: new Date('2027-05-01T00:10:00Z') })
  })

  it('keeps workspaces apart, and can be read back in the words it was written in', async () => {
    await using t = await start()
    await t.app.schedules.upsert({
      workspace: 't_42',
      key: 'digest',
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      job: digest,
      payload: { accountId: 't_42' },
      catchUp: 'all',
      catchUpWindow: '90m',
      description: 'the morning mail',
      tags: ['mail', 'mail', 'morning'],
      metadata: { plan: 'pro' },
      retry: { attempts: 7, base: '30s' },
      timeout: 90_000,
      priority: 8,
    })
    expect(await t.app.schedules.get('default', 'digest')).toBeNull()
    expect(await t.app.schedules.get('t_42', 'digest')).toMatchObject({
      workspace: 't_42',
      key: 'digest',
      when: 'Monday to Friday at 09:00 Europe/Berlin.',
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      job: 'send-digest',
      payload: { accountId: 't_42' },
      catchUp: 'all',
      catchUpWindow: '1h30m',
      catchUpLimit: 100,
      description: 'the morning mail',
      tags: ['mail', 'morning'],
      metadata: { plan: 'pro' },
      source: 'api',
      retry: { attempts: 7, backoff: 'exponential', base: '30s', max: '1h' },
      timeout: '1m30s',
      priority: 8,
      revision: 1,
      paused: null,
      quarantined: null,
      nextFireAt: new Date('2027-05-03T07:00:00Z'),
    })
  })

  it('can be read back with its policies and bounds, and what is read back is the same schedule', async () => {
    await using t = await start()
    const written = {
      key: 'full',
      cron: '0 9 * * *',
      timezone: 'Europe/Berlin',
      dst: { gap: 'skip', fold: 'second' },
      job: noop,
      overlap: 'queue_one',
      jitter: { max: '10%', per: 'occurrence' },
      delivery: 'at_most_once',
      startAt: new Date('2027-06-01T00:00:00Z'),
      endAt: new Date('2028-06-01T00:00:00Z'),
      maxRuns: 12,
      pauseOnFailure: 3,
      concurrencyKey: 'crm',
      exclude: [
        '2027-06-01',
        '2027-12-24/2028-01-02',
        '* * * * 0',
        { cron: '0 9 1 * *', timezone: 'Asia/Tokyo' },
        { from: new Date('2027-07-01T10:00:00Z'), to: new Date('2027-07-03T10:00:00Z') },
      ],
    } as const
    await t.app.schedules.upsert(written, { by: 'ana' })
    const view = (await t.app.schedules.get('default', 'full'))!
    const { job: _, ...words } = written
    expect(view).toMatchObject({
      ...words,
      when:
        'Every day at 09:00 Europe/Berlin. From 2027-06-01T00:00:00Z, until 2028-06-01T00:00:00Z, ' +
        'except 2027-06-01, 2027-12-24 to 2028-01-02, "* * * * 0" and 2 more, at most 12 runs.',
      createdBy: 'ana',
      updatedBy: 'ana',
      nextFireAt: new Date('2027-06-02T07:00:00Z'),
    })
    const { key, cron, timezone, dst, overlap, jitter, delivery, exclude } = view
    const { startAt, endAt, maxRuns, pauseOnFailure, concurrencyKey } = view
    const again = { key, cron, timezone, dst, overlap, jitter, delivery, exclude, startAt, endAt, job: noop }
    const answer = await t.app.schedules.upsert({ ...again, maxRuns, pauseOnFailure, concurrencyKey } as never)
    expect(answer).toMatchObject({ created: false, changed: false })
  })

  it.each<[object, object]>([
    [
      { any: [{ cron: '0 9 * * *' }, { every: '90m' }, { at: '2027-06-01T00:00:00Z' }] },
      {
        any: [{ cron: '0 9 * * *', timezone: 'UTC' }, { every: '1h30m' }, { at: new Date('2027-06-01T00:00:00Z') }],
        when: 'Every day at 09:00 UTC. And: Every 1h30m. And: Once, at 2027-06-01T00:00:00.000Z.',
        nextFireAt: new Date('2027-05-01T01:30:00Z'),
      },
    ],
    [
      { every: '1h', maxRuns: 1 },
      { when: 'Every 1h. At most 1 run.', maxRuns: 1 },
    ],
    [{ every: '1h' }, { when: 'Every 1h.', jitter: 'none', overlap: 'skip', delivery: 'at_least_once', exclude: [] }],
    [{ every: '1h' }, { startAt: null, endAt: null, maxRuns: null, pauseOnFailure: null, concurrencyKey: null }],
    [{ every: '1h', jitter: '7.25%' }, { jitter: '7.25%' }],
    [{ every: '1h', jitter: 90_000 }, { jitter: '1m30s' }],
    [{ every: '1h', exclude: [{ from: '2027-05-02', to: '2027-05-03' }] }, { exclude: ['2027-05-02/2027-05-03'] }],
    [
      { every: '1h', endAt: '2027-05-01T00:30:00Z' },
      { nextFireAt: null, nextDueAt: null },
    ],
    [{ every: '1h', startAt: '2027-05-03T10:00:00Z' }, { nextFireAt: new Date('2027-05-03T10:00:00Z') }],
    [{ every: '1h', exclude: ['2027-05-01'] }, { nextFireAt: new Date('2027-05-02T00:00:00Z') }],
  ])('of %j is read back as it was written', async (options, words) => {
    await using t = await start()
    await t.app.schedules.upsert({ key: 'a', job: noop, ...options } as never)
    expect(await t.app.schedules.get('default', 'a')).toMatchObject(words)
  })

  it('tells the nominal instant of the next run apart from when it may start', async () => {
    await using t = await start([schedule({ ...hourly, jitter: '5m' })])
    const { nextFireAt, nextDueAt } = (await t.app.schedules.get('default', 'hourly'))!
    expect(nextFireAt).toEqual(new Date('2027-05-01T01:00:00Z'))
    const jitterMs = nextDueAt!.getTime() - nextFireAt!.getTime()
    expect(jitterMs).toBeGreaterThan(0)
    expect(jitterMs).toBeLessThan(300_000)
    await t.advance('1h10m')
    expect(t.runs()).toMatchObject([{ scheduledAt: nextFireAt, dueAt: nextDueAt, state: 'succeeded' }])
  })

  it('has no next run once it has had all of them, and not a moment sooner', async () => {
    await using t = await start([schedule({ ...hourly, maxRuns: 2 })])
    const next = async (): Promise<unknown> => (await t.app.schedules.get('default', 'hourly'))!.nextFireAt
    await t.advanceTo('2027-05-01T01:30:00Z')
    expect(await next()).toEqual(new Date('2027-05-01T02:00:00Z'))
    // Planned already, and not yet due.
    await t.advanceTo('2027-05-01T01:59:55Z')
    expect(await next()).toEqual(new Date('2027-05-01T02:00:00Z'))
    await t.advanceTo('2027-05-01T05:30:00Z')
    expect(await next()).toBeNull()
    expect(t.runs()).toHaveLength(2)
  })

  it("takes the job's concurrency key where it has none of its own", async () => {
    const crm = defineJob({ name: 'crm', concurrencyKey: 'crm', run: () => {} })
    const schedules = [
      schedule({ key: 'a', every: '1h', job: crm }),
      schedule({ key: 'b', every: '1h', job: 'crm', concurrencyKey: 'own' }),
    ]
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:30Z', jobs: [crm], schedules })
    expect((await t.app.schedules.list()).map(({ concurrencyKey }) => concurrencyKey)).toEqual(['crm', 'own'])
  })

  it('refuses a payload that does not fit, by name and path, and writes nothing', async () => {
    await using t = await start()
    const bad = { workspace: 't_42', key: 'digest', every: '1h', job: digest, payload: { accountId: 7 } } as never
    await expect(t.app.schedules.upsertMany([hourly, bad])).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringMatching(/^schedule "digest" \(t_42\) → job "send-digest": payload\.accountId: /),
    })
    expect(await t.app.schedules.list()).toEqual([])
  })

  it('refuses a job that the app does not have, and the same key twice in one call', async () => {
    await using t = await start()
    await expect(t.app.schedules.upsert({ ...hourly, job: 'noob' })).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await expect(t.app.schedules.upsertMany([hourly, hourly])).rejects.toMatchObject({ code: 'DUPLICATE_KEY' })
  })
})

describe('reading', () => {
  it('lists page by page in order of workspace and key', async () => {
    await using t = await start()
    const keys = ['b', 'a', 'c']
    await t.app.schedules.upsertMany(keys.map((key) => ({ ...hourly, key, workspace: key === 'c' ? 'a' : 'b' })))
    const [first, second] = await t.app.schedules.list({ limit: 2 })
    expect([first, second].map((each) => [each!.workspace, each!.key])).toEqual([
      ['a', 'c'],
      ['b', 'a'],
    ])
    expect((await t.app.schedules.list({ limit: 2, after: second! })).map(({ key }) => key)).toEqual(['b'])
    expect((await t.app.schedules.list({ workspace: 'a' })).map(({ key }) => key)).toEqual(['c'])
  })

  it('tells the coming occurrences', async () => {
    await using t = await start([schedule(hourly)])
    expect((await t.app.schedules.next('default', 'hourly', 2)).map((at) => at.toISOString())).toEqual([
      '2027-05-01T01:00:00.000Z',
      '2027-05-01T02:00:00.000Z',
    ])
    await expect(t.app.schedules.next('default', 'weekly')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
  })
})

describe('a pause', () => {
  it('stops the schedule, says why, and leaves a record of what it kept from running', async () => {
    await using t = await start([schedule(hourly)])
    await t.advanceTo('2027-05-01T01:30:00Z')
    const until = new Date('2027-06-01T00:00:00Z')
    await t.app.schedules.pause('default', 'hourly', { reason: 'trial ended', by: 'ana', until })
    const paused = (await t.app.schedules.get('default', 'hourly'))!
    expect(paused).toMatchObject({ paused: { reason: 'trial ended', by: 'ana', until }, nextFireAt: null })
    await t.advanceTo('2027-05-01T04:30:00Z')
    await t.app.schedules.resume('default', 'hourly')
    expect(await t.app.schedules.get('default', 'hourly')).toMatchObject({
      paused: null,
      nextFireAt: new Date('2027-05-01T05:00:00Z'),
    })
    await t.advanceTo('2027-05-01T05:30:00Z')
    expect(t.runs().map(({ scheduledAt }) => scheduledAt!.getUTCHours())).toEqual([1, 5])
    expect(await t.store.history.nonRuns(paused.id)).toMatchObject([
      {
        state: 'skipped',
        reason: 'paused',
        fromAt: Date.parse('2027-05-01T02:00:00Z'),
        toAt: Date.parse('2027-05-01T04:00:00Z'),
        count: 3,
      },
    ])
  })

  it('survives an edit, and resuming twice is resuming once', async () => {
    await using t = await start([schedule(hourly)])
    await t.app.schedules.pause('default', 'hourly')
    await t.app.schedules.upsert({ ...hourly, every: '30m' })
    expect((await t.app.schedules.get('default', 'hourly'))!.paused).not.toBeNull()
    await t.app.schedules.resume('default', 'hourly')
    await t.app.schedules.resume('default', 'hourly')
    await t.advance('1h')
    expect(t.runs()).toHaveLength(2)
  })

  it('of a schedule that is not there is refused', async () => {
    await using t = await start()
    await expect(t.app.schedules.pause('t_1', 'gone')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
    await expect(t.app.schedules.resume('t_1', 'gone')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
  })
})

describe('removing', () => {
  it('ends the schedule, and says whether there was one', async () => {
    await using t = await start([schedule(hourly)])
    expect(await t.app.schedules.remove('default', 'hourly')).toBe(true)
    expect(await t.app.schedules.remove('default', 'hourly')).toBe(false)
    await t.advance('1d')
    expect(t.runs()).toEqual([])
  })

  it('takes a whole workspace, and only that one', async () => {
    await using t = await start([schedule(hourly)])
    await t.app.schedules.upsertMany(['a', 'b'].map((key) => ({ ...hourly, key, workspace: 't_42' })))
    expect(await t.app.schedules.removeWorkspace('t_42')).toBe(2)
    expect((await t.app.schedules.list()).map(({ key }) => key)).toEqual(['hourly'])
  })
})

describe('a schedule that is created paused', () => {
  it.each([{ enabled: false }, { paused: true }])(
    'fires nothing until it is resumed, and its ledger adds up: %j',
    async (how) => {
      await using t = await start()
      const { schedules } = t.app
      expect(await schedules.create({ ...hourly, ...how })).toMatchObject({ created: true, nextFireAt: null })
      expect(await schedules.get('default', 'hourly')).toMatchObject({
        nextFireAt: null,
        paused: { reason: 'created paused', by: expect.any(String), until: null },
      })
      await t.advance('3h')
      expect(t.runs()).toEqual([])
      await schedules.resume('default', 'hourly')
      await t.advance('1h')
      expect(t.runs()).toHaveLength(1)
      const report = await t.app.audit()
      expect(report).toMatchObject({ ok: true, expected: 4, runs: 1, nonRuns: 3 })
    },
  )

  it('fires by itself when its pause has an end, and keeps the state that people gave it', async () => {
    await using t = await start()
    const { schedules } = t.app
    const paused = { reason: 'launch', until: '2027-05-01T02:30:00Z' }
    await schedules.upsert({ ...hourly, paused })
    await t.advanceTo('2027-05-01T03:00:10Z')
    expect(t.runs()).toHaveLength(1)
    await schedules.upsert({ ...hourly, paused: true })
    expect((await schedules.get('default', 'hourly'))!.paused).toBeNull()
    await expect(schedules.create({ ...hourly, key: 'both', paused: true, enabled: false })).rejects.toThrow(
      'paused and enabled',
    )
  })
})

describe('lastFiredAt', () => {
  it('is the nominal instant of the newest occurrence that has come and became a run', async () => {
    await using t = await start()
    const { schedules } = t.app
    const last = async (key = 'hourly'): Promise<Date | null> => (await schedules.get('default', key))!.lastFiredAt
    await schedules.upsert({ ...hourly, jitter: '10m' })
    await schedules.upsert({ ...hourly, key: 'idle', paused: true })
    expect(await last()).toBeNull()
    await schedules.trigger('default', 'hourly')
    // Planned ahead, and made by hand: none of them is an occurrence that has come.
    await t.advanceTo('2027-05-01T00:59:55Z')
    expect(await last()).toBeNull()
    await t.advanceTo('2027-05-01T03:20:00Z')
    expect(await last()).toEqual(new Date('2027-05-01T03:00:00Z'))
    await schedules.pause('default', 'hourly')
    await t.advance('2h')
    expect(await last()).toEqual(new Date('2027-05-01T03:00:00Z'))
    const listed = await schedules.list()
    expect(listed.map(({ key, lastFiredAt }) => [key, lastFiredAt?.toISOString() ?? null])).toEqual([
      ['hourly', '2027-05-01T03:00:00.000Z'],
      ['idle', null],
    ])
  })
})

describe('a schedule that is over', () => {
  it('is removed after its retention, its history answers by its id, and the ledger adds up before and after', async () => {
    await using t = await createTestEverytick({
      now: '2027-05-01T00:00:30Z',
      jobs: [noop],
      retention: { history: '90d', journal: '90d' },
    })
    const { schedules } = t.app
    const { id } = await schedules.upsert({ key: 'once', at: '2027-05-01T01:00:00Z', job: noop })
    await schedules.upsert({ key: 'thrice', every: '1h', maxRuns: 3, job: noop })
    await schedules.upsert({ key: 'until', every: '1h', endAt: '2027-05-01T05:00:00Z', job: noop })
    await schedules.upsert({ key: 'daily', every: '24h', job: noop })
    const keys = async (): Promise<string[]> => (await schedules.list()).map(({ key }) => key)
    const tidy = (): Promise<unknown> => t.store.upkeep.tidy(coreOf(t.app).settings.retention)
    await t.advance('29d')
    await tidy()
    expect(await keys()).toEqual(['daily', 'once', 'thrice', 'until'])
    expect(await t.app.audit()).toMatchObject({ ok: true })
    await t.advance('3d')
    await tidy()
    expect(await keys()).toEqual(['daily'])
    expect(await t.app.audit()).toMatchObject({ ok: true, schedules: 1 })
    expect(await t.app.runs.list({ scheduleId: id })).toMatchObject([{ state: 'succeeded', schedule: { key: 'once' } }])
    expect(await t.store.history.revisions(id)).toMatchObject([{ kind: 'removed', by: 'everytick' }])
  })
})
