/** Backfills: a past span of a schedule is run afterwards, once, as slowly as wanted, through crashes, until it is done or cancelled. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/index.ts'
import type { BackfillView } from '../../src/scheduler/backfills.ts'
import { createTestEverytick, startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { OPEN_PLACES } from './open-resources.ts'

const NOW = '2027-05-10T00:30:00Z'
const from = '2027-05-09T01:00:00Z'
const to = '2027-05-09T10:00:00Z'

interface Bench {
  readonly t: TestEverytick
  readonly ran: Date[]
  readonly atOnce: number[]
}

/** A job that takes a second of the test's clock, and tells how many of it were in flight. */
async function bench(begin: (jobs: ReturnType<typeof jobsOf>['jobs']) => Promise<TestEverytick>): Promise<Bench> {
  const { jobs, ran, atOnce, use } = jobsOf()
  const t = await begin(jobs)
  use(t)
  await t.app.schedules.upsert({ key: 'hourly', cron: '0 * * * *', job: jobs[0]!, overlap: 'skip' })
  return { t, ran, atOnce }
}

function jobsOf() {
  const [ran, atOnce]: [Date[], number[]] = [[], []]
  let under = 0
  let t: TestEverytick
  const work = defineJob({
    name: 'work',
    async run(ctx) {
      ran.push(ctx.slot!.end)
      atOnce.push(++under)
      await new Promise<void>((resolve, reject) => {
        t.clock.timers.set(1000, resolve)
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason), { once: true })
      }).finally(() => under--)
    },
  })
  return { jobs: [work], ran, atOnce, use: (on: TestEverytick) => void (t = on) }
}

const begin = (more: object = {}): Promise<Bench> =>
  bench((jobs) => createTestEverytick({ now: NOW, jobs, queues: { default: 50 }, ...more }))
const hoursOf = (dates: readonly Date[]): number[] => dates.map((date) => date.getUTCHours())
const get = async (t: TestEverytick, id: string | null): Promise<BackfillView> => (await t.app.backfills.get(id!))!

describe('a backfill', () => {
  it('runs every occurrence of its span, one after another, the oldest first', async () => {
    const { t, ran, atOnce } = await begin()
    await using _ = t
    const answer = await t.app.schedules.backfill('default', 'hourly', { from, to, by: 'ana' })
    expect(answer).toMatchObject({ total: 10, toRun: 10, kept: 0 })
    expect(await get(t, answer.id)).toMatchObject({ state: 'running', done: 0, total: 10, by: 'ana' })
    const waiting = t.app.backfills.wait(answer.id!)
    await t.advance('5m')
    expect(hoursOf(ran)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(Math.max(...atOnce)).toBe(1)
    const counts = { state: 'done', done: 10, total: 10, succeeded: 10, failed: 0, cancelled: 0, kept: 0, running: 0 }
    expect(await waiting).toMatchObject(counts)
    expect(t.runs()[0]).toMatchObject({ trigger: 'backfill', scheduledAt: new Date(from), schedule: { key: 'hourly' } })
    expect(await t.app.audit({ from: '2027-05-09T00:30:00Z' })).toMatchObject({ ok: true })
  })

  it('has as many in flight as it may, and no more', async () => {
    const { t, ran, atOnce } = await begin()
    await using _ = t
    await t.app.schedules.backfill('default', 'hourly', { from, to, concurrency: 4 })
    await t.advance('5m')
    expect([ran.length, Math.max(...atOnce)]).toEqual([10, 4])
  })

  it('can be tried dry, with the same numbers', async () => {
    const { t } = await begin()
    await using _ = t
    const dry = await t.app.schedules.backfill('default', 'hourly', { from, to, dryRun: true })
    expect(dry).toMatchObject({ id: null, total: 10, toRun: 10, kept: 0 })
    expect(hoursOf(dry.first)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    await t.advance('5m')
    expect(t.runs()).toEqual([])
    expect(await t.app.backfills.list()).toEqual([])
  })

  it('keeps what the definition excludes, and takes another payload when given one', async () => {
    const seen: unknown[] = []
    const job = defineJob({
      name: 'j',
      payload: z.object({ a: z.number() }),
      run: (payload) => void seen.push(payload),
    })
    await using t = await createTestEverytick({ now: NOW, jobs: [job] })
    const exclude = [{ from: '2027-05-09T02:00:00Z', to: '2027-05-09T09:00:00Z' }]
    await t.app.schedules.upsert({ key: 'h', cron: '0 * * * *', job, payload: { a: 1 }, exclude })
    const { id, kept } = await t.app.schedules.backfill('default', 'h', { from, to, payload: { a: 2 } })
    await t.advance('1m')
    expect(kept).toBe(7)
    expect(await get(t, id)).toMatchObject({ state: 'done', kept: 7, succeeded: 3 })
    expect(seen).toEqual([{ a: 2 }, { a: 2 }, { a: 2 }])
  })

  it('counts what failed, and goes on', async () => {
    const job = defineJob({
      name: 'j',
      retry: { attempts: 1 },
      run(ctx) {
        if (ctx.slot!.end.getUTCHours() % 2 === 0) throw new Error('even')
      },
    })
    await using t = await createTestEverytick({ now: NOW, jobs: [job] })
    await t.app.schedules.upsert({ key: 'h', cron: '0 * * * *', job, pauseOnFailure: 1 })
    const { id } = await t.app.schedules.backfill('default', 'h', { from, to })
    await t.advance('1m')
    expect(await get(t, id)).toMatchObject({ state: 'done', succeeded: 5, failed: 5, done: 10 })
    expect((await t.app.schedules.get('default', 'h'))!.paused).toBeNull()
  })

  it('ends with its schedule', async () => {
    const { t, ran } = await begin()
    await using _ = t
    const { id } = await t.app.schedules.backfill('default', 'hourly', { from, to })
    await t.advance('2s')
    await t.app.schedules.remove('default', 'hourly')
    await t.advance('1m')
    expect((await get(t, id)).state).toBe('cancelled')
    expect(ran.length).toBeLessThan(5)
  })

  it('does not run afterwards what the catch-up policy is about to', async () => {
    const { t, ran } = await begin()
    await using _ = t
    await t.app.schedules.edit('default', 'hourly', { catchUp: 'all' })
    await t.crash()
    t.clock.moveTo(t.clock.now() + 3 * 3_600_000)
    const span = { from: '2027-05-10T01:00:00Z', to: '2027-05-10T03:00:00Z' }
    const dry = await t.app.schedules.backfill('default', 'hourly', { ...span, dryRun: true })
    expect(dry).toMatchObject({ total: 3, toRun: 0, kept: 3 })
    expect(await t.app.schedules.backfill('default', 'hourly', span)).toMatchObject({ total: 3, toRun: 0, kept: 3 })
    await t.advance('1m')
    await t.advance('10m')
    expect(hoursOf(ran).sort()).toEqual([1, 2, 3])
  })

  it('is listed with those of its schedule, newest first', async () => {
    const { t } = await begin()
    await using _ = t
    const first = await t.app.schedules.backfill('default', 'hourly', { from, to: from })
    await t.advance('1m')
    const second = await t.app.schedules.backfill('default', 'hourly', { from, to })
    expect((await t.app.backfills.list({ schedule: 'hourly' })).map(({ id }) => id)).toEqual([second.id, first.id])
    expect(second).toMatchObject({ total: 10, toRun: 9, kept: 1 })
    await expect(t.app.backfills.list({ schedule: 'gone' })).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
    await expect(t.app.backfills.wait('no id')).rejects.toMatchObject({ code: 'BACKFILL_NOT_FOUND' })
  })
})

describe.each(OPEN_PLACES)('on %s, a backfill', (_, open) => {
  it('goes on after a crash where it was, and runs nothing twice that had ended', async () => {
    await using place = await open(Date.parse(NOW))
    const { t, ran } = await bench((jobs) => startedIn(place, { jobs, queues: { default: 50 } }))
    await using _ = t
    const { id } = await t.app.schedules.backfill('default', 'hourly', { from, to, concurrency: 2 })
    await t.advance('2500ms')
    await t.crash()
    await t.advance('1m')
    await t.advance('5m')
    expect(await get(t, id)).toMatchObject({ state: 'done', succeeded: 10, done: 10, total: 10 })
    expect(new Set(hoursOf(ran)).size).toBe(10)
    expect(t.runs({ state: 'succeeded' })).toHaveLength(10)
    // Two were in flight when the process died: only they were begun a second time.
    expect(ran.length).toBeLessThanOrEqual(12)
  })

  it('keeps occurrences that ran already, unless it is forced', async () => {
    await using place = await open(Date.parse(NOW))
    const { t, ran } = await bench((jobs) => startedIn(place, { jobs, queues: { default: 50 } }))
    await using _ = t
    await t.advance('3h')
    expect(hoursOf(ran)).toEqual([1, 2, 3])
    const span = { from: '2027-05-09T23:00:00Z', to: '2027-05-10T03:00:00Z' }
    const kept = await t.app.schedules.backfill('default', 'hourly', span)
    expect(kept).toMatchObject({ total: 5, toRun: 2, kept: 3 })
    await t.advance('1m')
    expect(hoursOf(ran)).toEqual([1, 2, 3, 23, 0])
    expect(await get(t, kept.id)).toMatchObject({ state: 'done', kept: 3, succeeded: 2 })
    const forced = await t.app.schedules.backfill('default', 'hourly', { ...span, force: true })
    await t.advance('1m')
    expect(await get(t, forced.id)).toMatchObject({ state: 'done', kept: 0, succeeded: 5 })
    expect(await t.app.audit()).toMatchObject({ ok: true })
  })

  it('can be cancelled, with what it has in flight', async () => {
    await using place = await open(Date.parse(NOW))
    const { t, ran } = await bench((jobs) => startedIn(place, { jobs, queues: { default: 50 } }))
    await using _ = t
    const { id } = await t.app.schedules.backfill('default', 'hourly', { from, to, concurrency: 3 })
    await t.advance('500ms')
    expect(await t.app.backfills.cancel(id!, { by: 'ana' })).toBe(true)
    const waiting = t.app.backfills.wait(id!)
    await t.advance('1m')
    expect(await waiting).toMatchObject({ state: 'cancelled', cancelled: 3, running: 0, done: 3, total: 10 })
    expect(ran).toHaveLength(3)
    expect(await t.app.backfills.cancel(id!)).toBe(false)
  })
})
