/** What becomes of runs whose schedule is still busy when they come due, on the real engine: every policy, and crashes in between. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob, schedule } from '../../src/index.ts'
import type { Overlap } from '../../src/run/run.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})

interface LeasedRun {
  readonly finish: () => void
  readonly signal: AbortSignal
}

/** A schedule of every minute whose runs last until the test ends them, or until they are told to stop. */
async function slow(overlap: Overlap) {
  const begun: string[] = []
  const leased = new Map<string, LeasedRun>()
  const job = defineJob({
    name: 'slow',
    run: ({ slot, signal }) =>
      new Promise<void>((resolve, reject) => {
        const name = slot!.end.toISOString().slice(11, 16)
        begun.push(name)
        leased.set(name, { finish: resolve, signal })
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  })
  t = await createTestEverytick({
    now: '2027-01-01T00:00:30Z',
    jobs: [job],
    schedules: [schedule({ key: 'busy', every: '1m', job, overlap })],
  })
  const { id } = (await t.app.schedules.get('default', 'busy'))!
  const look = async () => ({
    begun: begun.join(' '),
    runs: t.runs().map((run) => `${run.scheduledAt!.toISOString().slice(11, 16)} ${run.state}`),
    skipped: (await t.store.history.nonRuns(id)).map(({ reason, count }) => `${reason} ${count}`),
  })
  return { leased, look }
}

describe('a run that comes due while the one before is unfinished', () => {
  it('is skipped under skip, with one record for all of them, and the next begins on time', async () => {
    const { leased, look } = await slow('skip')
    await t.advance('3m')
    expect(await look()).toMatchObject({ begun: '00:01', skipped: ['overlap 2'] })
    leased.get('00:01')!.finish()
    await t.advance('1m')
    expect(await look()).toEqual({
      begun: '00:01 00:04',
      runs: ['00:01 succeeded', '00:04 running'],
      skipped: ['overlap 2'],
    })
  })

  it('waits under queue, and all of them begin one after another', async () => {
    const { leased, look } = await slow('queue')
    await t.advance('3m')
    expect(await look()).toMatchObject({ begun: '00:01', runs: ['00:01 running', '00:02 pending', '00:03 pending'] })
    leased.get('00:01')!.finish()
    await t.advance('1s')
    expect((await look()).begun).toBe('00:01 00:02')
    leased.get('00:02')!.finish()
    await t.advance('1s')
    expect(await look()).toMatchObject({ begun: '00:01 00:02 00:03', skipped: [] })
  })

  it('waits under queue_one, but only one does', async () => {
    const { leased, look } = await slow('queue_one')
    await t.advance('4m')
    expect(await look()).toMatchObject({ runs: ['00:01 running', '00:02 pending'], skipped: ['overlap 2'] })
    leased.get('00:01')!.finish()
    await t.advance('1s')
    expect((await look()).begun).toBe('00:01 00:02')
  })

  it('takes its place under cancel_previous, once the one before has stopped', async () => {
    const { leased, look } = await slow('cancel_previous')
    await t.advance('1m')
    expect((await look()).begun).toBe('00:01')
    await t.advance('1m')
    expect(leased.get('00:01')!.signal.reason).toMatchObject({ code: 'RUN_CANCELLED' })
    expect(await look()).toEqual({ begun: '00:01 00:02', runs: ['00:01 cancelled', '00:02 running'], skipped: [] })
  })

  it('runs beside it under allow', async () => {
    const { look } = await slow('allow')
    await t.advance('3m')
    expect(await look()).toMatchObject({ begun: '00:01 00:02 00:03', skipped: [] })
  })

  it('takes its place under cancel_previous when the one before is lost with its worker', async () => {
    const { look } = await slow('cancel_previous')
    await t.advance('80s')
    await t.crash()
    await t.advance('10s')
    await t.advance('40s')
    expect(await look()).toMatchObject({ runs: ['00:01 cancelled', '00:02 running'], skipped: [] })
  })
})

describe('a concurrency key', () => {
  it('lets runs of several schedules begin one after another', async () => {
    const begun: string[] = []
    const finish: (() => void)[] = []
    const job = defineJob({
      name: 'job',
      run: (ctx) => {
        begun.push(ctx.schedule!.key)
        return new Promise<void>((resolve) => finish.push(resolve))
      },
    })
    const shared = { at: '2027-01-01T00:01:00Z', job, overlap: 'queue', concurrencyKey: 'ledger' } as const
    t = await createTestEverytick({
      now: '2027-01-01T00:00:00Z',
      jobs: [job],
      schedules: [schedule({ key: 'a', ...shared }), schedule({ key: 'b', ...shared })],
    })
    await t.advance('2m')
    expect(begun).toHaveLength(1)
    finish[0]!()
    await t.advance('1s')
    expect(begun.sort()).toEqual(['a', 'b'])
  })
})
