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
