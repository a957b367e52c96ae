/** `app.schedules.why`: one sentence and a checklist for any occurrence, from what is stored, while the real engine runs on a clock that the test moves. */
import { describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const noop = defineJob({ name: 'noop', run: () => {} })
const broken = defineJob({
  name: 'broken',
  retry: { attempts: 1 },
  run() {
    throw new Error('no disk')
  },
})
const hourly = { key: 'hourly', every: '1h', job: noop } as const
const start = (schedules = [schedule(hourly)]): Promise<TestEverytick> =>
  createTestEverytick({ now: '2027-05-01T00:00:30Z', jobs: [noop, broken], schedules })
const at = (time: string): string => `2027-05-01T${time}:00Z`

describe('why', () => {
  it('tells that an occurrence ran, by whom, and how late', async () => {
    await using t = await start()
    await t.advanceTo(at('02:30'))
    const [first] = t.runs()
    const why = await t.app.schedules.why('default', 'hourly', at('01:00'))
    expect(why).toMatchObject({ verdict: 'ran', reason: null, slot: new Date(at('01:00')), at: new Date(at('01:00')) })
    expect(why.sentence).toContain(first!.id)
    expect(why.checks.map(({ name }) => name)).toContain('claimed')
    expect(await t.app.schedules.why('default', 'hourly', at('01:20'))).toMatchObject({
      ...{ verdict: 'not_due', slot: new Date(at('01:00')), at: new Date(at('01:20')) },
    })
    expect(await t.app.schedules.why('default', 'hourly', at('05:00'))).toMatchObject({ verdict: 'future' })
  })

  it('tells of a pause while it lasts and afterwards, and who it was', async () => {
    await using t = await start()
    await t.app.schedules.pause('default', 'hourly', { by: 'ana', reason: 'stocktaking' })
    await t.advanceTo(at('03:30'))
    const during = await t.app.schedules.why('default', 'hourly', at('02:00'))
    expect(during).toMatchObject({ verdict: 'not_planned_yet', reason: 'paused' })
    await t.app.schedules.resume('default', 'hourly')
    await t.advanceTo(at('04:30'))
    const after = await t.app.schedules.why('default', 'hourly', at('02:00'))
    expect(after).toMatchObject({ verdict: 'skipped', reason: 'paused' })
    expect(after.sentence).toBe('It was skipped, as one of 3: the schedule was paused by ana: stocktaking.')
    expect(after.checks.find(({ name }) => name === 'pause')).toMatchObject({ ok: false })
    expect(await t.app.schedules.why('default', 'hourly', at('04:00'))).toMatchObject({ verdict: 'ran' })
  })

  it('tells what an outage cost, and what failed', async () => {
    await using t = await start([schedule(hourly), schedule({ ...hourly, key: 'broken', job: broken })])
    await t.advanceTo(at('01:30'))
    await t.crash()
    await t.advanceTo(at('04:30'))
    await t.advanceTo(at('04:31'))
    expect(await t.app.schedules.why('default', 'hourly', at('03:00'))).toMatchObject({
      ...{ verdict: 'missed', reason: 'policy', hint: expect.stringContaining('backfill') },
    })
    const latest = await t.app.schedules.why('default', 'hourly', at('04:00'))
    expect(latest.sentence).toMatch(/^It ran late, by catch-up/)
    const failed = await t.app.schedules.why('default', 'broken', at('01:00'))
    expect(failed).toMatchObject({ verdict: 'failed', sentence: expect.stringContaining('no disk') })
  })

  it('names the run that was in the way', async () => {
    let release = (): void => {}
    const slow = defineJob({ name: 'slow', run: () => new Promise<void>((resolve) => (release = resolve)) })
    await using t = await createTestEverytick({ now: at('00:30'), jobs: [slow] })
    await t.app.schedules.upsert({ key: 'minutely', every: '1m', job: slow })
    await t.advanceTo('2027-05-01T00:32:30Z')
    const [first] = t.runs()
    const why = await t.app.schedules.why('default', 'minutely', at('00:32'))
    expect(why).toMatchObject({ verdict: 'skipped', reason: 'overlap' })
    expect(why.sentence).toContain(first!.id)
    expect(why.checks.find(({ name }) => name === 'group')).toMatchObject({ ok: false })
    release()
  })

  it('knows nothing of what there is not', async () => {
    await using t = await start()
    await expect(t.app.schedules.why('default', 'weekly', at('01:00'))).rejects.toMatchObject({
      code: 'SCHEDULE_NOT_FOUND',
    })
    await expect(t.app.schedules.why('default', 'hourly', 'soon')).rejects.toMatchObject({ code: 'INSTANT_INVALID' })
  })
})
