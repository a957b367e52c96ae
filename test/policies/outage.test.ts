/** A month of seconds missed: what is caught up is bounded, and what is dropped is one record, whatever the store. */
import { afterEach, describe, expect, it } from 'vitest'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { PLACES, type Place } from './places.ts'
import { createStage } from './stage.ts'

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
})
