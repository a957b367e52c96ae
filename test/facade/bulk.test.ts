/** Many schedules in one call, which share what they can: that none gets what is another's. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const noop = defineJob({ name: 'noop', run: () => {} })
const keyed = defineJob({ name: 'keyed', concurrencyKey: 'crm', queue: 'slow', retry: { attempts: 7 }, run: () => {} })
const late = defineJob({
  name: 'late',
  payload: z.object({ n: z.number() }).refine(async ({ n }) => n > 0, 'too small'),
  run: () => {},
})
const start = (): Promise<TestEverytick> =>
  createTestEverytick({ now: '2027-05-01T00:00:30Z', jobs: [noop, keyed, late] })

describe('upsertMany', () => {
  it('spreads an expression with H over the schedules that share it', async () => {
    await using t = await start()
    const keys = Array.from({ length: 20 }, (_, i) => `spread-${i}`)
    const answers = await t.app.schedules.upsertMany(keys.map((key) => ({ key, cron: 'H H * * *', job: noop })))
    const fires = answers.map(({ nextFireAt }) => nextFireAt!.getTime())
    expect(new Set(fires).size).toBeGreaterThan(10)
    const alone = await Promise.all(keys.map(async (key) => (await t.app.schedules.next('default', key, 1))[0]!))
    expect(fires).toEqual(alone.map((at) => at.getTime()))
  })

  it('gives one expression in two zones two fires', async () => {
    await using t = await start()
    const zones = ['UTC', 'Asia/Tokyo', undefined, 'UTC']
    const given = zones.map((timezone, i) => ({
      ...{ key: `k${i}`, cron: '0 9 * * *', job: noop },
      ...(timezone === undefined ? {} : { timezone }),
    }))
    const fires = (await t.app.schedules.upsertMany(given)).map(({ nextFireAt }) => nextFireAt!.toISOString())
    const [utc, tokyo] = ['2027-05-01T09:00:00.000Z', '2027-05-02T00:00:00.000Z']
    expect(fires).toEqual([utc, tokyo, utc, utc])
  })

  it('answers each with an instant of its own', async () => {
    await using t = await start()
    const given = ['a', 'b'].map((key) => ({ key, cron: '0 * * * *', job: noop }))
    const [a, b] = await t.app.schedules.upsertMany(given)
    a!.nextFireAt!.setTime(0)
    expect(b!.nextFireAt).toEqual(new Date('2027-05-01T01:00:00Z'))
  })

  it('gives each what its own job says', async () => {
    await using t = await start()
    const given = [noop, keyed, noop].map((job, i) => ({ key: `k${i}`, every: '1h', job }))
    await t.app.schedules.upsertMany([
      ...given,
      { key: 'own', every: '1h', job: keyed, concurrencyKey: 'erp', queue: 'q' },
    ])
    const list = await t.app.schedules.list()
    expect(list.map(({ queue, concurrencyKey, retry }) => [queue, concurrencyKey, retry.attempts])).toEqual([
      ['default', null, 3],
      ['slow', 'crm', 7],
      ['default', null, 3],
      ['q', 'erp', 7],
    ])
  })

  it('refuses all when one is refused, at once or later, and leaves no refusal unheard', async () => {
    await using t = await start()
    const slow = { key: 'slow', every: '1h', job: late, payload: { n: 0 } }
    const wrong = { key: 'wrong', every: '1h', job: 'nope' }
    const right = { key: 'right', every: '1h', job: noop }
    await expect(t.app.schedules.upsertMany([right, slow])).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    await expect(t.app.schedules.upsertMany([slow, right, wrong])).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    expect(await t.app.schedules.list()).toEqual([])
  })
})

describe('options that were left out', () => {
  it('are not the same as options that are null', () => {
    for (const option of ['maxRuns', 'concurrencyKey', 'startAt', 'timeout', 'pauseOnFailure'])
      expect(() => schedule({ key: 'k', every: '1h', job: noop, [option]: null })).toThrow(option)
  })
})
