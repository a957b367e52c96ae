/** Pauses with an end, single instants that have passed, and crashes in between, on the real engine. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})
const job = defineJob({ name: 'job', run: () => {} })

describe('a pause', () => {
  it('with an end resumes by itself, and what it passed over is on record', async () => {
    t = await createTestEverytick({
      now: '2027-01-01T00:00:30Z',
      jobs: [job],
      schedules: [schedule({ key: 'minutely', every: '1m', job })],
    })
    await t.advance('2m')
    await t.app.schedules.pause('default', 'minutely', {
      reason: 'vendor outage',
      by: 'ana',
      until: '2027-01-01T00:10:30Z',
    })
    await t.advance('7m')
    expect((await t.app.schedules.get('default', 'minutely'))!.paused).toMatchObject({ reason: 'vendor outage' })
    await t.advance('4m')
    const { paused, id } = (await t.app.schedules.get('default', 'minutely'))!
    expect(paused).toBeNull()
    expect(t.runs().map(({ scheduledAt }) => scheduledAt!.toISOString().slice(11, 16))).toEqual([
      '00:01',
      '00:02',
      '00:11',
      '00:12',
      '00:13',
    ])
    expect(await t.store.history.nonRuns(id)).toMatchObject([{ state: 'skipped', reason: 'paused', count: 8 }])
  })

  it('with an end survives an edit of the schedule', async () => {
    t = await createTestEverytick({ now: '2027-01-01T00:00:30Z', jobs: [job] })
    await t.app.schedules.upsert({ key: 'minutely', every: '1m', job })
    await t.app.schedules.pause('default', 'minutely', { until: '2027-01-01T00:05:30Z' })
    await t.app.schedules.upsert({ key: 'minutely', every: '2m', job })
    await t.advance('10m')
    expect(t.runs().map(({ scheduledAt }) => scheduledAt!.toISOString().slice(11, 16))).toEqual([
      '00:06',
      '00:08',
      '00:10',
    ])
  })
})

describe('a single instant', () => {
  it('that has just passed runs at once, as caught up', async () => {
    t = await createTestEverytick({ now: '2027-01-01T00:00:00Z', jobs: [job] })
    await t.app.schedules.upsert({ key: 'late', at: '2026-12-31T23:00:00Z', job })
    await t.advance('1s')
    expect(t.runs()).toMatchObject([{ trigger: 'catch_up', state: 'succeeded' }])
    await t.app.schedules.upsert({ key: 'late', at: '2026-12-31T23:00:00Z', job, description: 'with words' })
    await t.advance('1h')
    expect(t.runs()).toHaveLength(1)
  })

  it('that passed longer ago than the catch-up window is on record as missed', async () => {
    t = await createTestEverytick({ now: '2027-01-01T00:00:00Z', jobs: [job] })
    const { id } = await t.app.schedules.upsert({ key: 'old', at: '2026-06-01T00:00:00Z', job })
    await t.advance('1s')
    expect(t.runs()).toEqual([])
    expect(await t.store.history.nonRuns(id)).toMatchObject([{ state: 'missed', reason: 'window', count: 1 }])
  })
})
