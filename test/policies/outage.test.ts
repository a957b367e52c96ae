/** Outages, of everything and of the workers alone: what is caught up, what is dropped, and what the records name, whatever the store. */
import { afterEach, describe, expect, it } from 'vitest'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { PLACES, type Place } from './places.ts'
import { createStage, unknownRuns } from './stage.ts'

const START = Date.parse('2027-01-01T00:00:00Z')
const MONTH = 30 * 86_400
let place: Place
let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
  await place.close()
})

describe.each(Object.entries(PLACES))('on %s', (_, open) => {
  it('an outage of thirty days of a schedule of every second costs a hundred runs and one record', async () => {
    place = await open(START)
    const { job } = createStage(place.clock)
    t = await startedIn(place, { jobs: [job], queues: { default: 1000 } })
    const policies = { catchUp: 'all', catchUpWindow: '60d', overlap: 'allow' } as const
    const { id } = await t.app.schedules.upsert({ key: 'beat', every: '1s', job, ...policies })
    await t.crash()
    await t.advance(`${MONTH}s`)
    const records = await place.store.history.nonRuns(id)
    expect(records).toMatchObject([{ state: 'missed', reason: 'limit' }])
    // The last two seconds were not missed, only slow.
    const made = t.runs().filter(({ scheduledAt }) => scheduledAt!.getTime() <= place.clock.now() - 2000)
    expect(made).toHaveLength(100)
    expect(records[0]!.count + made.length).toBeLessThanOrEqual(MONTH)
    expect(records[0]!.count + made.length).toBeGreaterThan(MONTH - 5)
    const report = await t.app.audit({ from: new Date(START + 86_400_000), to: new Date(place.clock.now()) })
    expect(report).toMatchObject({ ok: true, lostCount: 0, doubledCount: 0, unexplainedCount: 0 })
  })
  it('every record of a skipped occurrence names a run that exists, after two hours without a worker under cancel_previous', async () => {
    place = await open(START)
    const { job } = createStage(place.clock)
    t = await startedIn(place, { jobs: [job] })
    const shared = { every: '1m', job, overlap: 'cancel_previous' } as const
    const keys = ['own', 'first', 'second']
    await t.app.schedules.upsert({ key: 'own', ...shared })
    for (const key of ['first', 'second']) await t.app.schedules.upsert({ key, ...shared, concurrencyKey: 'shared' })
    await t.app.queues.pause('default')
    await t.advance('128m')
    await t.app.queues.resume('default')
    await t.advance('1m')
    let records = 0
    for (const key of keys) {
      const { id } = (await t.app.schedules.get('default', key))!
      const nonRuns = await place.store.history.nonRuns(id)
      expect(await unknownRuns(place.store, nonRuns)).toEqual([])
      records += nonRuns.length
    }
    // One schedule of two that share a key is skipped each minute; otherwise this test could not fail.
    expect(records).toBeGreaterThan(0)
    const report = await t.app.audit({ from: new Date(START), to: new Date(place.clock.now()) })
    expect(report).toMatchObject({ ok: true, lostCount: 0, doubledCount: 0, unexplainedCount: 0 })
  }, 120_000)
})
