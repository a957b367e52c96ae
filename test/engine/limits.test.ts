/** What queues allow, on the real engine: limits of all processes, equal shares for workspaces, and budgets for retries. */
import { afterEach, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

const NOW = '2027-01-01T00:00:00Z'
let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})

describe('a queue', () => {
  it('with a rate limit begins no more than it allows in any stretch, and goes on by itself', async () => {
    const begun: number[] = []
    const job = defineJob({ name: 'job', run: () => void begun.push(t.clock.now()) })
    t = await createTestEverytick({
      now: NOW,
      jobs: [job],
      queues: { default: { concurrency: 10, rateLimit: { limit: 2, per: '1m' } } },
    })
    await t.app.enqueueMany(
      job,
      Array.from({ length: 6 }, () => ({})),
    )
    await t.advance('30s')
    expect(begun).toHaveLength(2)
    await t.advance('150s')
    expect(begun).toHaveLength(6)
    for (const [i, at] of begun.entries()) if (i >= 2) expect(at - begun[i - 2]!).toBeGreaterThanOrEqual(60_000)
  })

  it('with a global concurrency never has more in flight, and works through all of them', async () => {
    let [now, most, done] = [0, 0, 0]
    const job = defineJob({
      name: 'job',
      async run() {
        most = Math.max(most, ++now)
        await new Promise(setImmediate)
        now--
        done++
      },
    })
    t = await createTestEverytick({
      now: NOW,
      jobs: [job],
      queues: { default: { concurrency: 10, globalConcurrency: 3 } },
    })
    await t.app.enqueueMany(
      job,
      Array.from({ length: 20 }, () => ({})),
    )
    await t.advance('1s')
    expect({ most, done }).toEqual({ most: 3, done: 20 })
  })

  it('with a long backlog of one workspace serves another within a few claims', async () => {
    const begun: string[] = []
    const job = defineJob({ name: 'job', run: ({ workspace }) => void begun.push(workspace) })
    t = await createTestEverytick({
      now: NOW,
      jobs: [job],
      queues: { default: { concurrency: 1, perWorkspace: 1000 } },
    })
    await t.app.enqueueMany(
      job,
      Array.from({ length: 200 }, () => ({ workspace: 'hog' })),
    )
    await t.app.enqueue(job, { workspace: 'mouse' })
    await t.advance('1s')
    expect(begun).toHaveLength(201)
    expect(begun.indexOf('mouse')).toBeLessThan(20)
  })

  it('without limits does so too', async () => {
    const begun: string[] = []
    const job = defineJob({ name: 'job', run: ({ workspace }) => void begun.push(workspace) })
    t = await createTestEverytick({ now: NOW, jobs: [job], queues: { default: 1 } })
    await t.app.enqueueMany(
      job,
      Array.from({ length: 12_000 }, () => ({ workspace: 'hog' })),
    )
    await t.app.enqueue(job, { workspace: 'mouse' })
    await t.advance('1s')
    expect(begun).toHaveLength(12_001)
    // What takes no time is claimed in growing groups, here of 11, 11 and 257; the fourth, of 4,001, is shared.
    expect(begun.indexOf('mouse')).toBeLessThan(4300)
  })

  it('with a retry budget puts off what goes beyond it, and fails none of it for that', async () => {
    let begun = 0
    const job = defineJob({
      name: 'job',
      retry: { attempts: 2, backoff: 'fixed', base: '1s', max: '1s' },
      run() {
        begun++
        throw new Error('down')
      },
    })
    t = await createTestEverytick({
      now: NOW,
      jobs: [job],
      queues: { default: { concurrency: 100, retryBudget: 0 } },
    })
    await t.app.enqueueMany(
      job,
      Array.from({ length: 30 }, () => ({})),
    )
    await t.advance('10s')
    expect(begun).toBe(40)
    await t.advance('1m')
    expect(begun).toBe(60)
    const { id } = t.runs()[0]!
    expect((await t.store.history.journal({ runId: id })).map(({ kind }) => kind)).toEqual(['retry'])
  })
})
