/** The test kit: the real engine on a store in memory, where a day takes no time and a crash is one call. */
import { setTimeout as realDelay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, RetryAfter, schedule } from '../../src/index.ts'
import { createTestEverytick } from '../../src/testing/test-everytick.ts'

const noop = defineJob({ name: 'noop', run: () => {} })
const nightly = schedule({ key: 'nightly', cron: '30 2 * * *', timezone: 'Europe/Berlin', job: noop })

describe('a test app', () => {
  it('runs 02:30 once on the night it happens twice, and catches up after a crash', async () => {
    await using t = await createTestEverytick({ now: '2027-10-30T12:00:00Z', jobs: [noop], schedules: [nightly] })
    await t.advanceTo('2027-11-01T00:00:00Z')
    expect(t.runs({ schedule: 'nightly' })).toHaveLength(1)
    expect(t.runs()[0]).toMatchObject({ trigger: 'schedule', state: 'succeeded' })
    await t.crash()
    await t.advance('6h')
    expect(t.runs()).toHaveLength(2)
    expect(t.runs()[1]).toMatchObject({ trigger: 'catch_up', state: 'succeeded' })
  })

  it('makes a day of a minutely schedule into its runs, each at its own instant', async () => {
    const lateness = new Set<number>()
    const tick = defineJob({
      name: 'tick',
      run: (ctx) => void lateness.add(ctx.run.startedAt.getTime() - ctx.run.scheduledAt!.getTime()),
    })
    const minutely = schedule({ key: 'minutely', cron: '* * * * *', job: tick })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [tick], schedules: [minutely] })
    await t.advance('24h')
    expect(t.runs({ state: 'succeeded' })).toHaveLength(1440)
    expect(new Set(t.runs().map(({ scheduledAt }) => scheduledAt!.getTime())).size).toBe(1440)
    expect([...lateness]).toEqual([0])
  })

  it('waits for handlers that speak to the outside', async () => {
    const outside = defineJob({ name: 'outside', run: () => realDelay(20).then(() => 'back') })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [outside] })
    await t.app.enqueue(outside)
    await t.advance('1s')
    expect(t.runs()).toMatchObject([
      { state: 'succeeded', result: 'back', finishedAt: new Date('2027-05-01T00:00:00Z') },
    ])
  })

  it('tries a failed run again after its backoff, and counts every attempt', async () => {
    const starts: string[] = []
    const flaky = defineJob({
      name: 'flaky',
      retry: { attempts: 3, backoff: 'fixed', base: '10s' },
      run(ctx) {
        starts.push(ctx.run.startedAt.toISOString().slice(17, 19))
        throw new Error(`attempt ${ctx.run.attempt} of ${ctx.run.maxAttempts}`)
      },
    })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [flaky] })
    await t.app.enqueue(flaky)
    await t.advance('1h')
    expect(starts).toEqual(['00', '05', '10'])
    expect(t.runs()).toMatchObject([{ state: 'failed', attempt: 3, error: { message: 'attempt 3 of 3' } }])
  })

  it('does not count an attempt that asked to come back later', async () => {
    let calls = 0
    const limited = defineJob({
      name: 'limited',
      retry: { attempts: 1 },
      run(ctx) {
        if (++calls < 4) throw new RetryAfter('2m')
        return ctx.run.attempt
      },
    })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [limited] })
    await t.app.enqueue(limited)
    await t.advance('10m')
    expect(t.runs()).toMatchObject([
      { state: 'succeeded', result: 1, attempt: 1, finishedAt: new Date('2027-05-01T00:06:00Z') },
    ])
  })

  it('lets a run that never returns keep its lease until its timeout, and no longer', async () => {
    let aborted = 0
    const stuck = defineJob({
      name: 'stuck',
      timeout: '10m',
      retry: { attempts: 1 },
      run: (ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => {
            aborted++
            reject(ctx.signal.reason)
          })
        }),
    })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [stuck] })
    await t.app.enqueue(stuck)
    await t.advance('9m')
    expect(t.runs()).toMatchObject([{ state: 'running', attempt: 1 }])
    await t.advance('2m')
    expect(t.runs()).toMatchObject([{ state: 'failed', attempt: 1, error: { code: 'RUN_TIMEOUT' } }])
    expect(aborted).toBe(1)
  })

  it('gets through a queue whose slots are taken by work that waits for time', async () => {
    const slow = defineJob({ name: 'slow', timeout: '1m', retry: { attempts: 1 }, run: () => new Promise(() => {}) })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [slow], queues: { default: 1 } })
    await t.app.enqueueMany(slow, [{}, {}, {}])
    await t.advance('10m')
    expect(t.runs({ state: 'failed' })).toHaveLength(3)
  })

  it('gives a run that was in flight at a crash to the next engine, once its lease has ended', async () => {
    const hang = defineJob({
      name: 'hang',
      run: (ctx) => (ctx.run.attempt === 1 ? new Promise<string>(() => {}) : `attempt ${ctx.run.attempt}`),
    })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [hang] })
    await t.app.enqueue(hang)
    await t.advance('1s')
    await t.crash()
    await t.advance('1s')
    expect(t.runs()).toMatchObject([{ state: 'running', attempt: 1 }])
    await t.advance('1m')
    expect(t.runs()).toMatchObject([{ state: 'succeeded', attempt: 2, result: 'attempt 2' }])
    expect(await t.app.runs.journal(t.runs()[0]!.id)).toMatchObject([{ kind: 'lost' }])
  })

  it('records what a long outage made impossible to run', async () => {
    const hourly = schedule({ key: 'hourly', every: '1h', job: noop, catchUp: 'all', catchUpWindow: '3h' })
    await using t = await createTestEverytick({ now: '2027-05-01T00:30:00Z', jobs: [noop], schedules: [hourly] })
    await t.crash()
    await t.advanceTo('2027-05-01T10:30:00Z')
    expect(t.runs().map(({ scheduledAt, trigger }) => [scheduledAt!.getUTCHours(), trigger])).toEqual([
      [8, 'catch_up'],
      [9, 'catch_up'],
      [10, 'catch_up'],
    ])
    const { id } = (await t.app.schedules.get('default', 'hourly'))!
    expect(await t.store.history.nonRuns(id)).toMatchObject([{ state: 'missed', reason: 'window', count: 7 }])
  })

  it('gives handlers the slot they answer for, and a payload as their schema reads it', async () => {
    const seen: unknown[] = []
    const report = defineJob({
      name: 'report',
      payload: z.object({ day: z.iso.date().transform((text) => new Date(text)), locale: z.string().default('en') }),
      run: ({ day, locale }, ctx) => void seen.push([day, locale, ctx.slot, ctx.schedule?.key, ctx.idempotencyKey]),
    })
    const daily = schedule({ key: 'daily', cron: '0 6 * * *', job: report, payload: { day: '2027-01-01' } })
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [report], schedules: [daily] })
    await t.advance('12h')
    const slot = { start: new Date('2027-04-30T06:00:00Z'), end: new Date('2027-05-01T06:00:00Z') }
    expect(seen).toEqual([[new Date('2027-01-01'), 'en', slot, 'daily', t.runs()[0]!.id]])
  })

  it('refuses to go back in time, and options it does not know', async () => {
    await using t = await createTestEverytick({ now: '2027-05-01T00:00:00Z', jobs: [noop] })
    await expect(t.advanceTo('2027-04-30T00:00:00Z')).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    const misspelt = { now: '2027-05-01T00:00:00Z', jobs: [], shcedules: [] } as Parameters<
      typeof createTestEverytick
    >[0]
    await expect(createTestEverytick(misspelt)).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' })
  })
})
