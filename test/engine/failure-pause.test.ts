/** Schedules that stop by themselves after too many failures in a row, on the real engine. */
import { afterEach, describe, expect, it } from 'vitest'
import { Discard, defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})

/** Minutely, failing where the letters say `f`. */
async function minutely(ends: string) {
  let calls = 0
  const job = defineJob({
    name: 'job',
    run() {
      if (ends[calls++] === 'f') throw new Discard('no')
    },
  })
  t = await createTestEverytick({
    now: '2027-01-01T00:00:30Z',
    jobs: [job],
    schedules: [schedule({ key: 'frail', every: '1m', job, pauseOnFailure: 3 })],
  })
  return async () => ({ ran: t.runs().length, paused: (await t.app.schedules.get('default', 'frail'))!.paused })
}

describe('a schedule with pauseOnFailure', () => {
  it('is paused when that many runs in a row have failed, and says why', async () => {
    const look = await minutely('sfffff')
    await t.advance('10m')
    expect(await look()).toMatchObject({
      ran: 4,
      paused: { by: 'everytick', reason: 'failed 3 times in a row', until: null },
    })
  })

  it('goes on while a success comes in between', async () => {
    const look = await minutely('ffsffsffs')
    await t.advance('9m')
    expect(await look()).toEqual({ ran: 9, paused: null })
  })

  it('begins a new series when somebody resumes it', async () => {
    const look = await minutely('fffffff')
    await t.advance('5m')
    await t.app.schedules.resume('default', 'frail')
    await t.advance('2m')
    expect(await look()).toEqual({ ran: 5, paused: null })
    await t.advance('2m')
    expect(await look()).toMatchObject({ ran: 6, paused: { by: 'everytick' } })
  })

  it('is paused too when the failures are workers that died', async () => {
    const job = defineJob({ name: 'job', retry: { attempts: 1 }, run: () => new Promise(() => {}) })
    t = await createTestEverytick({
      now: '2027-01-01T00:00:30Z',
      jobs: [job],
      schedules: [schedule({ key: 'frail', every: '1h', job, pauseOnFailure: 1 })],
    })
    await t.advance('1h')
    await t.crash()
    await t.advance('1m')
    await t.advance('1m')
    expect((await t.app.schedules.get('default', 'frail'))!.paused).toMatchObject({ by: 'everytick' })
  })
})

describe('a run that gives up for its whole schedule', () => {
  /** Hourly, and gone from the first call on. */
  async function gone() {
    const job = defineJob({
      name: 'job',
      retry: { attempts: 5 },
      run: () => {
        throw new Discard('the endpoint answered 410 Gone', { pauseSchedule: true })
      },
    })
    t = await createTestEverytick({
      now: '2027-01-01T00:00:30Z',
      jobs: [job],
      schedules: [schedule({ key: 'hooks', every: '1h', job }), schedule({ key: 'other', every: '1d', job })],
    })
    const pauseOf = async (key: string) => (await t.app.schedules.get('default', key))!.paused
    return { job, pauseOf }
  }
  const paused = { by: 'everytick', reason: 'the endpoint answered 410 Gone', until: null }

  it('pauses the schedule with its message, and no other', async () => {
    const { pauseOf } = await gone()
    const told: string[] = []
    t.app.on('schedule.paused', ({ key, reason }) => told.push(`${key}: ${reason}`))
    await t.advance('3h')
    expect(t.runs()).toMatchObject([{ state: 'failed', attempt: 1 }])
    expect([await pauseOf('hooks'), await pauseOf('other')]).toMatchObject([paused, null])
    expect(told).toEqual(['hooks: the endpoint answered 410 Gone'])
  })

  it('pauses it too when somebody triggered the run by hand', async () => {
    const { pauseOf } = await gone()
    await t.app.schedules.trigger('default', 'hooks')
    await t.advance('1s')
    expect(await pauseOf('hooks')).toMatchObject(paused)
  })

  it('leaves a pause as somebody else made it', async () => {
    const { pauseOf } = await gone()
    await t.app.schedules.pause('default', 'hooks', { reason: 'audit', by: 'ana' })
    await t.app.schedules.trigger('default', 'hooks')
    await t.advance('1s')
    expect(await pauseOf('hooks')).toMatchObject({ by: 'ana', reason: 'audit' })
  })

  it('leaves a schedule alone that was changed while the run was in flight', async () => {
    const job = defineJob({
      name: 'job',
      run: async () => {
        await t.app.schedules.edit('default', 'hooks', { every: '2h' })
        throw new Discard('the endpoint answered 410 Gone', { pauseSchedule: true })
      },
    })
    t = await createTestEverytick({ now: '2027-01-01T00:00:30Z', jobs: [job] })
    await t.app.schedules.upsert({ key: 'hooks', every: '1h', job })
    await t.app.schedules.trigger('default', 'hooks')
    await t.advance('1s')
    expect(t.runs()).toMatchObject([{ state: 'failed' }])
    expect((await t.app.schedules.get('default', 'hooks'))!.paused).toBeNull()
  })

  it('pauses nothing for a backfill, nor for a run without a schedule', async () => {
    const { job, pauseOf } = await gone()
    await t.app.schedules.backfill('default', 'hooks', { from: '2026-12-31T00:00:00Z', to: '2026-12-31T03:00:00Z' })
    await t.app.enqueue(job)
    await t.advance('1m')
    expect(t.runs({ state: 'failed' }).length).toBeGreaterThan(1)
    expect([await pauseOf('hooks'), await pauseOf('other')]).toEqual([null, null])
  })
})
