/** Changes of schedules: edits laid over what is stored, what becomes of the past, and the record of who changed what. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, type ScheduleOptions, schedule } from '../../src/index.ts'
import { optionsOf } from '../../src/scheduler/schedule-edit.ts'
import { createTestEverytick, startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { OPEN_PLACES } from './open-resources.ts'

const noop = defineJob({ name: 'noop', run: () => {} })
const mail = defineJob({ name: 'mail', payload: z.object({ to: z.string() }), queue: 'mail', run: () => {} })
const jobs = [noop, mail]
const NOW = '2027-05-01T00:00:30Z'
const start = (more: object = {}): Promise<TestEverytick> => createTestEverytick({ now: NOW, jobs, ...more })
const hourly = { key: 'hourly', every: '1h', job: noop } as const
const rich: ScheduleOptions<typeof mail> = {
  ...{ key: 'rich', cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', dst: { gap: 'skip' }, job: mail },
  ...{ payload: { to: 'ana' }, priority: 8, timeout: '90s', retry: { attempts: 7, base: '30s' } },
  ...{ overlap: 'queue_one', jitter: { max: '7%', per: 'occurrence' }, maxRuns: 40, concurrencyKey: 'crm' },
  ...{ startAt: '2027-01-01T00:00:00Z', endAt: '2029-01-01T00:00:00Z', pauseOnFailure: 3 },
  exclude: ['2027-12-25', '2027-12-27/2028-01-02', { cron: '0 * 1 * *', timezone: 'Asia/Tokyo' }],
  ...{ catchUp: 'all', catchUpWindow: '90m', catchUpLimit: 7, description: 'mail', tags: ['a'], metadata: { a: 1 } },
}
const stored = (t: TestEverytick, key: string) => t.store.schedules.get('default', key).then((found) => found!)

describe('an edit', () => {
  it('changes what it names and nothing else', async () => {
    await using t = await start()
    await t.app.schedules.upsert(rich)
    const before = await stored(t, 'rich')
    const answer = await t.app.schedules.edit('default', 'rich', { cron: '30 9 * * 1-5', retry: { attempts: 2 } })
    expect(answer).toEqual({ id: before.id, changed: true, revision: 2, nextFireAt: new Date('2027-05-03T07:30:00Z') })
    const after = await stored(t, 'rich')
    const { timing, policy, ...rest } = before
    expect(after).toMatchObject({ ...rest, nextAt: after.nextAt, revision: 2, watermarkAt: after.watermarkAt })
    expect(after.timing).toEqual({ ...timing, cron: '30 9 * * 1-5' })
    expect(after.policy).toEqual({ ...policy, retry: { ...policy.retry, attempts: 2 } })
  })

  it.each([
    rich,
    { key: 'once', at: '2027-06-01T00:00:00Z', job: noop, jitter: '5m', delivery: 'at_most_once' } as const,
    { key: 'any', any: [{ cron: '0 9 * * *', timezone: 'Asia/Tokyo' }, { every: '7m' }], job: noop } as const,
  ])('of nothing changes nothing, whatever the definition says: $key', async (given) => {
    await using t = await start()
    await t.app.schedules.upsert(given as ScheduleOptions)
    const before = await stored(t, given.key)
    expect(await t.app.schedules.edit('default', given.key, {})).toMatchObject({ changed: false, revision: 1 })
    expect(await stored(t, given.key)).toEqual(before)
    expect(optionsOf(before)).not.toHaveProperty('source')
  })

  it('takes options away, so that their defaults hold again', async () => {
    await using t = await start()
    await t.app.schedules.upsert(rich)
    const gone = { timezone: null, dst: null, queue: null, maxRuns: null, exclude: null, tags: null, timeout: null }
    await t.app.schedules.edit('default', 'rich', gone)
    const after = await stored(t, 'rich')
    expect(after).toMatchObject({ queue: 'mail', tags: [], timing: { timezone: 'UTC' }, firing: { maxRuns: null } })
    expect(after.timing).not.toHaveProperty('exclude')
    expect(after.policy.timeoutMs).toBe(3_600_000)
  })

  it('replaces a rule by one of another kind, with all that belonged to it', async () => {
    await using t = await start()
    await t.app.schedules.upsert(rich)
    await t.app.schedules.edit('default', 'rich', { every: '2h', exclude: null })
    expect((await stored(t, 'rich')).timing).toMatchObject({ kind: 'interval', everyMs: 7_200_000 })
    await t.app.schedules.edit('default', 'rich', { delivery: 'at_most_once' })
    expect((await stored(t, 'rich')).policy).toMatchObject({ delivery: 'at_most_once', retry: { attempts: 1 } })
    await t.app.schedules.edit('default', 'rich', { delivery: null })
    expect((await stored(t, 'rich')).policy.retry).toMatchObject({ attempts: 3 })
  })

  it('can be made where the job is not known, unless it is about the job', async () => {
    await using t = await start()
    await t.app.schedules.upsert(rich)
    await using other = await startedIn({ store: t.store, clock: t.clock }, { jobs: [noop] })
    await other.app.schedules.edit('default', 'rich', { cron: '0 8 * * *' })
    expect(await stored(t, 'rich')).toMatchObject({ job: 'mail', payload: { to: 'ana' }, queue: 'mail', revision: 2 })
    const toBo = other.app.schedules.edit('default', 'rich', { payload: { to: 'bo' } })
    await expect(toBo).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  })

  it('holds for the newest revision, or for the one that was read', async () => {
    await using t = await start()
    await t.app.schedules.upsert(hourly)
    await t.app.schedules.edit('default', 'hourly', { priority: 7 }, { revision: 1 })
    await expect(t.app.schedules.edit('default', 'hourly', { priority: 8 }, { revision: 1 })).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
      message: 'schedule "hourly" is at revision 2, not 1',
    })
    expect(await t.app.schedules.edit('default', 'hourly', { priority: 8 })).toMatchObject({ revision: 3 })
  })

  it('of what code declares needs force', async () => {
    await using t = await start({ schedules: [schedule(hourly)] })
    const edit = (force: boolean) => t.app.schedules.edit('default', 'hourly', { every: '2h' }, { force })
    await expect(edit(false)).rejects.toMatchObject({ code: 'OPTION_INVALID', hint: expect.stringContaining('code') })
    expect(await edit(true)).toMatchObject({ changed: true, revision: 2 })
    expect(await stored(t, 'hourly')).toMatchObject({ source: 'code' })
  })
})

describe.each(OPEN_PLACES)('on %s', (_, open) => {
  const startAt = Date.parse(NOW)

  it('an edit while nobody plans loses no occurrence, of the old timing or the new', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    await t.app.schedules.upsert({ key: 'often', every: '10m', job: noop, catchUp: 'all', overlap: 'allow' })
    await t.advance('25m')
    await t.crash()
    await place.moved?.(startAt + 58 * 60_000)
    place.clock.moveTo(startAt + 58 * 60_000)
    await t.app.schedules.edit('default', 'often', { every: '7m' })
    await t.advance('30m')
    const minutes = t
      .runs({ schedule: 'often' })
      .map(({ scheduledAt }) => (scheduledAt!.getTime() - startAt + 30_000) / 60_000)
    expect(minutes.slice(0, 5)).toEqual([10, 20, 30, 40, 50])
    expect(new Set(minutes).size).toBe(minutes.length)
    const sevens = minutes.slice(5).map((minute) => (startAt - 30_000 + minute * 60_000) % (7 * 60_000))
    expect(sevens.length).toBeGreaterThanOrEqual(3)
    expect(new Set(sevens)).toEqual(new Set([0]))
    expect(await t.app.audit()).toMatchObject({ ok: true, lostCount: 0 })
  })

  it('an edit during a pause records what the pause kept from running by the timing it was', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    const { id } = await t.app.schedules.upsert(hourly)
    await t.app.schedules.pause('default', 'hourly', { by: 'ana', reason: 'vendor' })
    await t.advance('3h')
    await t.app.schedules.edit('default', 'hourly', { every: '30m' })
    await t.advance('1h')
    await t.app.schedules.resume('default', 'hourly')
    // Three by the hour, then two by the half hour: one record, since both say the same.
    expect(await t.store.history.nonRuns(id)).toMatchObject([{ reason: 'paused', count: 5, detail: 'by ana: vendor' }])
    expect(await t.app.audit()).toMatchObject({ ok: true })
  })

  it('a resume that catches up leaves the range to the catch-up policy', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    const { id } = await t.app.schedules.upsert({ ...hourly, catchUp: 'all' })
    await t.app.schedules.pause('default', 'hourly')
    await t.advance('3h')
    await t.app.schedules.resume('default', 'hourly', { from: 'catchUp' })
    await t.advance('1m')
    expect(t.runs().map(({ trigger, scheduledAt }) => [trigger, scheduledAt!.getUTCHours()])).toEqual([
      ['catch_up', 1],
      ['catch_up', 2],
      ['catch_up', 3],
    ])
    expect(await t.store.history.nonRuns(id)).toEqual([])
  })

  it('many edits at once are all in force afterwards', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    await t.app.schedules.upsert(hourly)
    const changes = [{ priority: 9 }, { description: 'a' }, { tags: ['b'] }, { maxRuns: 7 }, { timeout: '1m' }]
    await Promise.all(changes.map((change) => t.app.schedules.edit('default', 'hourly', change)))
    expect(await stored(t, 'hourly')).toMatchObject({
      ...{ revision: 6, priority: 9, description: 'a', tags: ['b'], firing: { maxRuns: 7 } },
      policy: { timeoutMs: 60_000 },
    })
  })

  it('records the past of a paused schedule once, though several change it at the same time', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    const { schedules } = t.app
    const { id } = await schedules.upsert(hourly)
    await schedules.pause('default', 'hourly', { by: 'ana' })
    await t.advance('330m')
    const edits = ['a', 'b', 'c', 'd'].map((description) => schedules.edit('default', 'hourly', { description }))
    await Promise.all([...edits, schedules.resume('default', 'hourly')])
    const counts = (await place.store.history.nonRuns(id)).map(({ count }) => count)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5)
    expect(await t.app.audit()).toMatchObject({ ok: true, doubledCount: 0 })
  })

  it('does not bring back by an edit what was removed at the same time', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    const { schedules } = t.app
    await schedules.upsert(hourly)
    const edit = schedules.edit('default', 'hourly', { description: 'late' }).catch(({ code }) => code)
    await Promise.all([edit, schedules.remove('default', 'hourly')])
    expect(await schedules.get('default', 'hourly')).toBeNull()
  })

  it('accounts for the past of a paused schedule inside the transaction that changes it, or not at all', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    const { schedules } = t.app
    const { id } = await schedules.upsert(hourly)
    await schedules.pause('default', 'hourly', { by: 'ana' })
    await t.advance('150m')
    const change = (then: () => void) =>
      place.within(async (tx) => {
        await schedules.upsert({ ...hourly, key: 'other' }, { tx })
        await schedules.edit('default', 'hourly', { every: '20m' }, { tx })
        await schedules.resume('default', 'hourly', { tx })
        then()
      })
    const fails = change(() => {
      throw new Error('and then the caller changed their mind')
    })
    await expect(fails).rejects.toThrow('changed their mind')
    expect(await place.store.history.nonRuns(id)).toEqual([])
    await change(() => {})
    expect(await place.store.history.nonRuns(id)).toMatchObject([{ reason: 'paused', count: 2 }])
    await t.advance('60m')
    expect(t.runs({ schedule: 'hourly' })).toHaveLength(3)
    expect(await t.app.audit()).toMatchObject({ ok: true })
  })

  it('a change inside the caller’s transaction is as good as one outside, however many there are', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    const { schedules } = t.app
    await schedules.upsert(hourly)
    await t.advance('90m')
    const answers = await place.within(async (tx) => {
      const created = await schedules.upsert({ ...hourly, key: 'new' }, { tx })
      const changed = await schedules.upsert({ ...hourly, key: 'new', every: '2h' }, { tx })
      const both = [
        { ...hourly, every: '20m' },
        { ...hourly, key: 'newer' },
      ] as const
      const many = await schedules.upsertMany(both, { tx })
      const again = await schedules.upsert({ ...hourly, every: '30m' }, { tx })
      return [created, changed, ...many, again].map((answer) => [answer.created, answer.changed])
    })
    expect(answers).toEqual([
      [true, true],
      [false, true],
      [false, true],
      [true, true],
      [false, true],
    ])
    expect((await stored(t, 'hourly')).timing).toMatchObject({ everyMs: 1_800_000 })
    expect((await stored(t, 'new')).timing).toMatchObject({ everyMs: 7_200_000 })
    await t.advance('60m')
    expect(t.runs({ schedule: 'hourly' })).toHaveLength(1 + 2)
    expect(await t.app.audit()).toMatchObject({ ok: true })
  })

  it('every change is a revision: who, when, before and after, and what differs', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs, name: 'crm' })
    await t.app.schedules.upsert(hourly)
    await t.app.schedules.edit('default', 'hourly', { every: '2h', priority: 7, retry: { attempts: 5 } }, { by: 'ana' })
    await t.advance('1m')
    await t.app.schedules.pause('default', 'hourly', { reason: 'vendor' })
    await t.app.schedules.resume('default', 'hourly', { by: 'bo' })
    const [edited, paused, resumed, ...more] = await t.app.schedules.revisions('default', 'hourly')
    expect(edited).toMatchObject({
      ...{ kind: 'edited', by: 'ana', revision: 2, at: new Date(startAt) },
      ...{ before: { priority: 5 }, after: { priority: 7 } },
      changes: [
        { field: 'policy.retry.attempts', before: 3, after: 5 },
        { field: 'priority', before: 5, after: 7 },
        { field: 'timing.everyMs', before: 3_600_000, after: 7_200_000 },
      ],
    })
    expect(paused).toMatchObject({ kind: 'paused', by: 'crm', at: new Date(startAt + 60_000) })
    expect(paused!.changes).toMatchObject([{ field: 'pause', before: null, after: { reason: 'vendor' } }])
    expect(resumed).toMatchObject({ kind: 'resumed', by: 'bo', changes: [{ field: 'pause', after: null }] })
    expect(more).toEqual([])
  })

  it('every refusal leaves the database as it was', async () => {
    await using place = await open(startAt)
    await using t = await startedIn(place, { jobs })
    const { schedules, runs, backfills } = t.app
    await schedules.upsertMany([hourly, rich])
    const { id } = await t.app.enqueue(noop, { delay: '1h' })
    const from = '2027-04-01T00:00:00Z'
    const nobody = '00000000-0000-7000-8000-000000000000'
    const refusals: [string, () => Promise<unknown>][] = [
      ['CRON_RANGE', () => schedules.edit('default', 'rich', { cron: '99 * * * *' })],
      ['OPTION_UNKNOWN', () => schedules.edit('default', 'rich', { crom: '* * * * *' } as object)],
      ['OPTION_UNKNOWN', () => schedules.edit('default', 'rich', { key: 'poor' } as object)],
      ['OPTION_INVALID', () => schedules.edit('default', 'rich', { cron: null })],
      ['OPTION_INVALID', () => schedules.edit('default', 'rich', { priority: 11 })],
      ['OPTION_INVALID', () => schedules.edit('default', 'rich', { priority: 1 }, { by: 'sync' })],
      ['PAYLOAD_INVALID', () => schedules.edit('default', 'rich', { payload: { to: 1 } })],
      ['JOB_UNKNOWN', () => schedules.edit('default', 'rich', { job: 'gone' })],
      ['REVISION_CONFLICT', () => schedules.edit('default', 'rich', { priority: 1 }, { revision: 9 })],
      ['SCHEDULE_NOT_FOUND', () => schedules.edit('default', 'gone', { priority: 1 })],
      [
        'PAYLOAD_INVALID',
        () =>
          schedules.upsertMany([
            { ...hourly, every: '2h' },
            { ...rich, payload: {} as never },
          ]),
      ],
      ['DUPLICATE_KEY', () => schedules.upsertMany([hourly, hourly])],
      ['OPTION_INVALID', () => schedules.resume('default', 'hourly', { from: 'then' as 'now' })],
      ['SCHEDULE_NOT_FOUND', () => schedules.pause('default', 'gone')],
      ['OPTION_INVALID', () => schedules.pause('default', 'hourly', { by: 'everytick' })],
      ['OPTION_INVALID', () => schedules.trigger('default', 'hourly', { overlap: 'skip' as 'allow' })],
      ['PAYLOAD_INVALID', () => schedules.trigger('default', 'rich', { payload: {} })],
      ['OPTION_INVALID', () => schedules.backfill('default', 'hourly', { from, to: '2027-06-01T00:00:00Z' })],
      ['OPTION_INVALID', () => schedules.backfill('default', 'hourly', { from, to: '2027-03-01T00:00:00Z' })],
      ['OPTION_INVALID', () => schedules.backfill('default', 'hourly', { from: '1990-01-01T00:00:00Z', to: from })],
      ['INSTANT_INVALID', () => schedules.backfill('default', 'hourly', { from: 'then', to: from })],
      ['SCHEDULE_NOT_FOUND', () => schedules.backfill('default', 'gone', { from, to: from })],
      ['PAYLOAD_INVALID', () => schedules.backfill('default', 'rich', { from, to: from, payload: {} })],
      ['BACKFILL_NOT_FOUND', () => backfills.cancel(nobody)],
      ['RUN_NOT_FAILED', () => runs.retry(id)],
      ['RUN_NOT_FOUND', () => runs.retry(nobody)],
      ['RUN_NOT_FOUND', () => runs.cancel([id, 'no id'])],
      ['OPTION_INVALID', () => runs.cancel({})],
      ['OPTION_UNKNOWN', () => runs.cancel({ jib: 'noop' } as object)],
      ['SCHEDULE_NOT_FOUND', () => runs.retry({ schedule: 'gone' })],
    ]
    const before = await place.dump()
    for (const [code, refuse] of refusals) await expect(refuse()).rejects.toMatchObject({ code })
    await schedules.backfill('default', 'hourly', { from, to: '2027-04-30T00:00:00Z', dryRun: true })
    await runs.cancel({ state: 'pending', dryRun: true })
    expect(await place.dump()).toBe(before)
  })
})
