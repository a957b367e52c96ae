/** Runs that their handler leaves to somebody outside, on the real engine and both stores. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Delivery, JobContext, RetryOptions } from '../../src/index.ts'
import { defineJob, HandOver, schedule } from '../../src/index.ts'
import { startedIn, type TestEverytick } from '../../src/testing/test-everytick.ts'
import { PLACES, type Place } from '../policies/places.ts'

const NOW = Date.parse('2027-01-01T00:00:30Z')
const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

describe.each(Object.entries(PLACES))('a run that is handed over, on %s', (_, open) => {
  let t: TestEverytick
  let place: Place
  let tokens: string[]
  let events: string[]

  /** One run of a job that hands over for ten minutes, after what the test does in it. */
  async function handed(
    options: { readonly retry?: RetryOptions; readonly delivery?: Delivery } = {},
    meanwhile: (ctx: JobContext) => Promise<unknown> | undefined = () => undefined,
  ) {
    tokens = []
    const job = defineJob({
      name: 'job',
      retry: { attempts: 2, backoff: 'fixed', base: '1m' },
      ...options,
      async run(ctx) {
        ctx.log.info('sent')
        tokens.push(await ctx.completionToken())
        await meanwhile(ctx)
        throw new HandOver('10m')
      },
    })
    place = await open(NOW)
    endings.push(() => place.close())
    // Its handler speaks to the store, and is waited for until it ends.
    t = await startedIn({ ...place, waitLimitMs: 10_000 }, { jobs: [job], queues: { default: 1 }, lease: '30s' })
    endings.push(() => t.app.stop({ drain: '0s' }))
    events = []
    for (const name of ['run.started', 'run.handed_over', 'run.refused', 'run.succeeded'] as const)
      t.app.on(name, () => events.push(name.slice(4)))
    const { id } = await t.app.enqueue(job)
    await t.advance('1s')
    return { id, job, look: async () => (await t.app.runs.get(id))! }
  }
  const kindsOf = async (id: string) => (await t.app.runs.journal(id)).map(({ kind }) => kind)

  it('stays running without a worker, keeps what it logged, and leaves its slot to others', async () => {
    const { id, job, look } = await handed()
    expect(await look()).toMatchObject({ state: 'running', workerId: null, attempt: 1 })
    expect(await t.store.logs.read(id, { limit: 10 })).toMatchObject([{ message: 'sent' }])
    const other = await t.app.enqueue(job)
    await t.advance('5m')
    expect(await t.app.runs.get(other.id)).toMatchObject({ state: 'running', workerId: null })
    expect(events).toEqual(['started', 'handed_over', 'started', 'handed_over'])
  })

  it('is completed with its token, once', async () => {
    const { id, look } = await handed()
    await t.advance('9m')
    const complete = () => t.app.runs.complete(id, { token: tokens[0]!, outcome: 'succeeded', result: { rows: 7 } })
    expect(await complete()).toMatchObject({ state: 'succeeded', result: { rows: 7 } })
    await expect(complete()).rejects.toMatchObject({ code: 'LEASE_LOST' })
    await t.advance('1h')
    expect(await look()).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(tokens).toHaveLength(1)
    // Whoever keeps a token cannot fill the journal with it.
    expect(await kindsOf(id)).toEqual([])
  })

  it('is tried again when nobody completed it in time, and the late word is refused', async () => {
    const { id, look } = await handed()
    await t.advance('10m')
    expect(await kindsOf(id)).toEqual(['timed_out'])
    await t.advance('2m')
    expect(await look()).toMatchObject({ state: 'running', workerId: null, attempt: 2, error: { code: 'RUN_TIMEOUT' } })
    await expect(t.app.runs.complete(id, { token: tokens[0]!, outcome: 'succeeded' })).rejects.toMatchObject({
      code: 'LEASE_LOST',
    })
    expect(await t.app.runs.complete(id, { token: tokens[1]!, outcome: 'succeeded' })).toMatchObject({
      state: 'succeeded',
    })
  })

  it('fails when nobody completed it in time and it may happen once only', async () => {
    const { look } = await handed({ retry: { attempts: 1 }, delivery: 'at_most_once' })
    await t.advance('11m')
    const error = { code: 'RUN_TIMEOUT', message: 'the run was handed over and was not completed in time' }
    expect(await look()).toMatchObject({ state: 'failed', attempt: 1, error })
  })

  it('is tried again when it is reported as failed, unless that is said to be of no use', async () => {
    const { id, look } = await handed()
    const error = { name: 'ExportError', message: 'disk full' }
    await t.app.runs.complete(id, { token: tokens[0]!, outcome: 'failed', error })
    expect(await look()).toMatchObject({ state: 'pending', attempt: 1, error })
    await t.advance('2m')
    expect(await t.app.runs.complete(id, { fence: 2, outcome: 'failed', retry: false })).toMatchObject({
      state: 'failed',
      attempt: 2,
    })
  })

  it('is cancelled at once', async () => {
    const { id, look } = await handed()
    expect(await t.app.runs.cancel(id)).toBe('cancelled')
    expect(await look()).toMatchObject({ state: 'cancelled' })
    await expect(t.app.runs.complete(id, { token: tokens[0]!, outcome: 'succeeded' })).rejects.toMatchObject({
      code: 'LEASE_LOST',
    })
  })

  it('ends as cancelled when that was asked for before it was handed over', async () => {
    const { look } = await handed({}, async (ctx) => t.app.runs.cancel(ctx.run.id))
    await t.advance('1s')
    expect(await look()).toMatchObject({ state: 'cancelled', attempt: 1 })
  })

  it('may be completed before its worker has said that it leaves it', async () => {
    const { look } = await handed({}, async (ctx) =>
      t.app.runs.complete(ctx.run.id, { fence: ctx.run.fence, outcome: 'succeeded', result: 'quick' }),
    )
    expect(await look()).toMatchObject({ state: 'succeeded', result: 'quick' })
    expect(events).not.toContain('refused')
  })

  it('outlives the worker that handed it over, and nothing is repeated', async () => {
    const { id, look } = await handed()
    await t.crash()
    await t.advance('5m')
    expect(await look()).toMatchObject({ state: 'running', workerId: null, attempt: 1 })
    await t.app.runs.complete(id, { token: tokens[0]!, outcome: 'succeeded' })
    await t.advance('1h')
    expect({ state: (await look()).state, calls: tokens.length }).toEqual({ state: 'succeeded', calls: 1 })
  })

  it('outlives a worker that stops in good order, and is completed through another', async () => {
    const { id, job, look } = await handed()
    await t.app.stop()
    t = await startedIn(place, { jobs: [job] })
    await t.advance('5m')
    expect(await look()).toMatchObject({ state: 'running', workerId: null, attempt: 1 })
    await t.app.runs.complete(id, { token: tokens[0]!, outcome: 'succeeded' })
    await t.advance('1h')
    expect({ state: (await look()).state, calls: tokens.length }).toEqual({ state: 'succeeded', calls: 1 })
    expect(await kindsOf(id)).toEqual([])
  })

  it('refuses a token of another run, and one that does not agree with the fence', async () => {
    const { id, job } = await handed()
    const other = await t.app.enqueue(job)
    await t.advance('1s')
    const complete = (of: string, token: string, fence?: number) =>
      t.app.runs.complete(of, { token, outcome: 'succeeded', ...(fence === undefined ? {} : { fence }) })
    await expect(complete(other.id, tokens[0]!)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    await expect(complete(id, tokens[0]!, 2)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    await expect(t.app.runs.complete(id, { outcome: 'succeeded' })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })

  it('keeps the next run of its schedule waiting, and is cancelled at once by one that comes instead', async () => {
    const begun: string[] = []
    const job = defineJob({
      name: 'job',
      run(ctx) {
        begun.push(`${ctx.schedule!.key} ${ctx.slot!.end.toISOString().slice(14, 16)}`)
        throw new HandOver('1h')
      },
    })
    place = await open(NOW)
    endings.push(() => place.close())
    const schedules = (['queue', 'cancel_previous'] as const).map((overlap) =>
      schedule({ key: overlap, every: '1m', job, overlap }),
    )
    t = await startedIn(place, { jobs: [job], schedules })
    endings.push(() => t.app.stop({ drain: '0s' }))
    await t.advance('100s')
    expect(begun.toSorted()).toEqual(['cancel_previous 01', 'cancel_previous 02', 'queue 01'])
    const [first] = t.runs({ schedule: 'queue' })
    await t.app.runs.complete(first!.id, { fence: first!.fence, outcome: 'succeeded' })
    await t.advance('5s')
    expect(begun.at(-1)).toBe('queue 02')
  })
})
