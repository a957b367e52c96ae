/** `app.schedules.trigger`: a run beside the occurrences. */
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})
const seen: unknown[] = []
const job = defineJob({
  name: 'mail',
  payload: z.object({ to: z.string() }),
  queue: 'mail',
  run: (payload) => void seen.push(payload),
})

async function start(): Promise<void> {
  seen.length = 0
  t = await createTestEverytick({ now: '2027-01-01T00:30:00Z', jobs: [job] })
  await t.app.schedules.upsert({ key: 'hourly', cron: '0 * * * *', job, payload: { to: 'ana' } })
}

it('makes one run now, with the schedule’s payload, and consumes no occurrence', async () => {
  await start()
  await t.app.schedules.trigger('default', 'hourly')
  await t.advance('1m')
  expect(t.runs()).toMatchObject([
    { trigger: 'manual', state: 'succeeded', scheduledAt: null, queue: 'mail', schedule: { key: 'hourly' } },
  ])
  expect(seen).toEqual([{ to: 'ana' }])
  await t.advance('1h')
  expect(
    t
      .runs()
      .map(({ trigger }) => trigger)
      .sort(),
  ).toEqual(['manual', 'schedule'])
})

it('runs a paused schedule too, with another payload if wanted', async () => {
  await start()
  await t.app.schedules.pause('default', 'hourly')
  await t.app.schedules.trigger('default', 'hourly', { payload: { to: 'bo' } })
  await t.advance('2h')
  expect(seen).toEqual([{ to: 'bo' }])
})

it('is one run however often the same key is used', async () => {
  await start()
  const first = await t.app.schedules.trigger('default', 'hourly', { idempotencyKey: 'click' })
  expect(await t.app.schedules.trigger('default', 'hourly', { idempotencyKey: 'click' })).toEqual({
    id: first.id,
    created: false,
  })
})

it('refuses an unknown schedule and a payload that does not fit, and writes nothing', async () => {
  await start()
  await expect(t.app.schedules.trigger('default', 'gone')).rejects.toMatchObject({ code: 'SCHEDULE_NOT_FOUND' })
  await expect(t.app.schedules.trigger('default', 'hourly', { payload: { to: 1 } })).rejects.toMatchObject({
    code: 'PAYLOAD_INVALID',
  })
  await t.advance('1m')
  expect(t.runs()).toEqual([])
})

it('waits for what the schedule has in flight, or runs beside it when that is asked for', async () => {
  const ends: (() => void)[] = []
  const slow = defineJob({ name: 'slow', run: () => new Promise<void>((end) => void ends.push(end)) })
  t = await createTestEverytick({ now: '2027-01-01T00:30:00Z', jobs: [slow] })
  await t.app.schedules.upsert({ key: 'slow', cron: '0 * * * *', job: slow })
  await t.advance('30m')
  await t.app.schedules.trigger('default', 'slow')
  await t.advance('1s')
  expect(ends).toHaveLength(1)
  await t.app.schedules.trigger('default', 'slow', { overlap: 'allow' })
  await t.advance('1s')
  expect(t.runs().map(({ trigger, state }) => [trigger, state])).toEqual([
    ['schedule', 'running'],
    ['manual', 'pending'],
    ['manual', 'running'],
  ])
  ends[0]!()
  await t.advance('1s')
  expect(t.runs().map(({ state }) => state)).toEqual(['succeeded', 'running', 'running'])
  for (const end of ends) end()
  await t.advance('1s')
})
