/** `app.cleanup()`: what is older than its retention leaves when it is asked for, in steps, and nothing else does. */
import { describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick } from '../../src/testing/test-everytick.ts'

const job = defineJob({ name: 'job', run: () => {} })
const start = () =>
  createTestEverytick({
    now: '2027-01-01T00:00:00Z',
    jobs: [job],
    schedules: [schedule({ key: 'often', every: '1m', job, overlap: 'allow' })],
  })

describe('a cleanup', () => {
  it('counts on a dry run, and removes that much without one', async () => {
    await using t = await start()
    await t.advance('10m')
    const retention = { history: '5m', journal: '5m' }
    const dry = await t.app.cleanup({ dryRun: true, retention })
    expect(dry).toMatchObject({ dryRun: true, more: false, retention: { history: '5m', idempotency: '1d' } })
    expect(dry.counts.runs).toBeGreaterThanOrEqual(4)
    expect(await t.app.runs.list({ state: 'succeeded' })).toHaveLength(10)
    const seen: number[] = []
    const done = await t.app.cleanup({ retention, onProgress: ({ removed }) => seen.push(removed) })
    expect(done).toEqual({ ...dry, dryRun: false })
    expect(seen.at(-1)).toBe(done.removed)
    expect(await t.app.runs.list({ state: 'succeeded' })).toHaveLength(10 - done.counts.runs!)
  })

  it('goes by the retention of the app where none is given, and says which', async () => {
    await using t = await start()
    await t.advance('3m')
    const kept = { history: '30d', journal: '30d', idempotency: '1d', orphans: '1w', endedSchedules: '30d' }
    expect(await t.app.cleanup()).toEqual({ dryRun: false, removed: 0, counts: {}, more: false, retention: kept })
    expect(await t.app.runs.list({ state: 'succeeded' })).toHaveLength(3)
  })

  it('stops after as many steps as it is allowed, and says that there is more', async () => {
    await using t = await start()
    await t.app.enqueueMany(
      job,
      Array.from({ length: 1500 }, () => ({})),
    )
    await t.advance('1m')
    await t.advance('1m')
    const retention = { history: '30s' }
    const first = await t.app.cleanup({ retention, steps: 1 })
    expect(first).toMatchObject({ removed: 1000, more: true })
    expect(await t.app.cleanup({ retention })).toMatchObject({ more: false })
    expect((await t.app.cleanup({ retention, dryRun: true })).removed).toBe(0)
  })

  it.each([{ retention: { history: 'soon' } }, { retention: { runs: '1d' } }, { steps: 0 }, { dry: true }])(
    'refuses %j',
    async (options) => {
      await using t = await start()
      await expect(t.app.cleanup(options as object)).rejects.toMatchObject({
        code: expect.stringMatching(/OPTION|DURATION/),
      })
    },
  )
})
