/** How long an attempt may take when nothing is said about it, and where that is said: by the job, the schedule or the caller, and always in the row. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import { DEFAULT_RETRY } from '../../src/run/retry.ts'
import { definitionOf, putOf } from '../../src/testing/conformance/samples.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const NOW = '2027-01-01T00:00:00Z'
const HOUR = 3_600_000
const retry = { attempts: 1 }
const hang = (): Promise<void> => new Promise(() => {})
const usual = defineJob({ name: 'usual', retry, run: hang })
const endless = defineJob({ name: 'endless', retry, timeout: 'none', run: hang })
const brief = defineJob({ name: 'brief', retry, timeout: '10m', run: hang })

let t: TestEverytick
const start = async (more: object = {}): Promise<TestEverytick> => {
  t = await createTestEverytick({ now: NOW, jobs: [usual, endless, brief], ...more })
  return t
}
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})

const storedTimeout = async (id: string): Promise<number | undefined> =>
  (await t.store.history.run(id))!.policy.timeoutMs

describe('an attempt about whose length nothing is said', () => {
  it('times out after an hour, and not before', async () => {
    await start()
    const { id } = await t.app.enqueue(usual)
    await t.advance('59m')
    expect(await t.app.runs.get(id)).toMatchObject({ state: 'running', timeout: '1h' })
    await t.advance('2m')
    expect(await t.app.runs.get(id)).toMatchObject({ state: 'failed', error: { code: 'RUN_TIMEOUT' } })
  })

  it('has none when its job says none', async () => {
    await start()
    const { id } = await t.app.enqueue(endless)
    await t.advance('61m')
    expect(await t.app.runs.get(id)).toMatchObject({ state: 'running', attempt: 1, timeout: 'none' })
  })

  it('has its timeout in its own row, and in that of its schedule', async () => {
    await start({ schedules: [schedule({ key: 'nightly', every: '1h', job: 'usual' })] })
    expect(await storedTimeout((await t.app.enqueue(usual)).id)).toBe(HOUR)
    expect((await t.store.schedules.get('default', 'nightly'))!.policy).toMatchObject({ timeoutMs: HOUR })
    await t.advance('61m')
    const [run] = await t.app.runs.list({ schedule: 'nightly' })
    expect(await storedTimeout(run!.id)).toBe(HOUR)
  })

  it('goes on without one where its row was written without one', async () => {
    await start()
    const definition = definitionOf({ key: 'old', job: 'usual', policy: { retry: DEFAULT_RETRY } })
    const at = await t.store.now()
    await t.store.schedules.put([putOf(definition, { nextAt: at + 60_000, watermarkAt: at })])
    expect(await t.app.schedules.get('default', 'old')).toMatchObject({ key: 'old' })
    await t.advance('63m')
    const runs = await t.app.runs.list({ schedule: 'old', state: 'running' })
    expect(runs.at(-1)).toMatchObject({ timeout: 'none', attempt: 1 })
  })
})

describe('a timeout', () => {
  it.each([
    ['of its job', {}, brief, '10m'],
    ['of the caller, over that of its job', { timeout: '5m' }, brief, '5m'],
    ['of the caller, over none of its job', { timeout: 90_000 }, endless, '1m30s'],
    ['none by the caller, over that of its job', { timeout: 'none' }, brief, 'none'],
  ])('of a run by hand is that %s', async (_, options, job, timeout) => {
    await start()
    const { id } = await t.app.enqueue(job, options)
    expect(await t.app.runs.get(id)).toMatchObject({ timeout, maxAttempts: 1 })
    const [many] = await t.app.enqueueMany(job, [options])
    expect(await t.app.runs.get(many!.id)).toMatchObject({ timeout, maxAttempts: 1 })
  })

  it.each([
    ['of its job', {}, 'brief', 600_000],
    ['none, as its job has it', {}, 'endless', undefined],
    ['its own, over none of its job', { timeout: '2h' }, 'endless', 2 * HOUR],
    ['none, over that of its job', { timeout: 'none' }, 'brief', undefined],
  ])('of a schedule is %s', async (_, options, job, timeoutMs) => {
    await start({ schedules: [schedule({ key: 'nightly', every: '1h', job, ...options })] })
    expect((await t.store.schedules.get('default', 'nightly'))!.policy.timeoutMs).toBe(timeoutMs)
  })

  it('stays none through an edit of something else, and goes back to that of the job when it is taken away', async () => {
    await start()
    await t.app.schedules.upsert({ key: 'report', every: '1h', job: 'brief', timeout: 'none' })
    await t.app.schedules.edit('default', 'report', { priority: 7 })
    const stored = async () => (await t.store.schedules.get('default', 'report'))!
    expect(await stored()).toMatchObject({
      priority: 7,
      policy: expect.not.objectContaining({ timeoutMs: expect.anything() }),
    })
    await t.app.schedules.edit('default', 'report', { timeout: null })
    expect((await stored()).policy.timeoutMs).toBe(600_000)
  })

  it.each(['soon', '', 0, -5, null])('is refused when it is %j', async (timeout) => {
    await start()
    await expect(t.app.enqueue(usual, { timeout } as object)).rejects.toMatchObject({
      code: expect.stringMatching(/OPTION_INVALID|DURATION/),
    })
  })
})
