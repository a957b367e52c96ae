/** `app.queues`: limits that hold for all processes together, and rest for whoever needs it. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, type QueueOption } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const mail = defineJob({ name: 'mail', queue: 'mail', payload: z.number(), run: () => {} })
const other = defineJob({ name: 'other', run: () => {} })
const start = (queue: QueueOption = 10): Promise<TestEverytick> =>
  createTestEverytick({
    ...{ now: '2027-05-01T00:00:00Z', name: 'billing', jobs: [mail, other] },
    queues: { default: 10, mail: queue },
  })

describe('a queue', () => {
  it('at rest starts nothing, says who and why, and goes on where it was', async () => {
    await using t = await start()
    await t.app.queues.pause('mail', { reason: 'provider is down', by: 'ana' })
    await t.app.enqueueMany(mail, [{ payload: 1 }, { payload: 2 }])
    await t.app.enqueue(other)
    await t.advance('1m')
    expect(t.runs({ state: 'succeeded' }).map(({ job }) => job)).toEqual(['other'])
    const paused = { reason: 'provider is down', by: 'ana', at: new Date('2027-05-01T00:00:00Z') }
    expect((await t.app.queues.list()).find(({ name }) => name === 'mail')).toEqual({
      ...{ name: 'mail', paused, ready: 2, running: 0, oldestDueAt: new Date('2027-05-01T00:00:00Z') },
      ...{ globalConcurrency: null, perWorkspace: null, rateLimit: null },
    })
    expect(await t.app.queues.resume('mail')).toBe(true)
    expect(await t.app.queues.resume('mail')).toBe(false)
    await t.advance('1m')
    expect(t.runs({ job: 'mail', state: 'succeeded' })).toHaveLength(2)
  })

  it('paused twice keeps the newer words; whoever says nothing else speaks for the app', async () => {
    await using t = await start()
    await t.app.queues.pause('mail', { reason: 'first' })
    await t.app.queues.pause('mail')
    expect((await t.app.queues.list()).find(({ name }) => name === 'mail')!.paused).toMatchObject({
      reason: '',
      by: 'billing',
    })
  })

  it('shows its limits in the words they were written in', async () => {
    await using t = await start({ globalConcurrency: 4, perWorkspace: 2, rateLimit: { limit: 100, per: '90s' } })
    expect((await t.app.queues.list()).find(({ name }) => name === 'mail')).toMatchObject({
      ...{ globalConcurrency: 4, perWorkspace: 2, rateLimit: { limit: 100, per: '1m30s' } },
      ...{ paused: null, ready: 0, running: 0, oldestDueAt: null },
    })
  })

  it('starts no more than its rate limit allows, and the rest when it may', async () => {
    await using t = await start({ rateLimit: { limit: 2, per: '1m' } })
    await t.app.enqueueMany(
      mail,
      [1, 2, 3, 4, 5].map((payload) => ({ payload })),
    )
    const done = (): number => t.runs({ state: 'succeeded' }).length
    await t.advance('30s')
    expect(done()).toBe(2)
    await t.advance('45s')
    expect(done()).toBe(4)
    await t.advance('75s')
    expect(done()).toBe(5)
  })

  it.each([
    ['a name that is none', ['', {}], 'OPTION_INVALID'],
    ['an unknown option', ['mail', { why: 'x' }], 'OPTION_UNKNOWN'],
    ['a reason that is no text', ['mail', { reason: 7 }], 'OPTION_INVALID'],
    ['a name of our own as who', ['mail', { by: 'sync' }], 'OPTION_INVALID'],
  ])('refuses %s, and pauses nothing', async (_, [name, options], code) => {
    await using t = await start()
    await expect(t.app.queues.pause(name as string, options as object)).rejects.toMatchObject({ code })
    expect((await t.app.queues.list()).filter(({ paused }) => paused)).toEqual([])
  })
})
