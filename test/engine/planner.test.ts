/** How often the planner writes: only when something moves, however often it looks; with a leader or without. */
import { afterEach, describe, expect, it } from 'vitest'
import { everybodyLeads } from '../../src/engine/leadership.ts'
import { createPlanner } from '../../src/engine/planner.ts'
import { defineJob, schedule } from '../../src/index.ts'
import { createTestEverytick, type TestEverytick } from '../../src/testing/test-everytick.ts'

let t: TestEverytick
afterEach(async () => {
  await t[Symbol.asyncDispose]()
})
const job = defineJob({ name: 'job', run: () => {} })

describe('the planner', () => {
  it('writes nothing when nothing moves, though it looks again and again', async () => {
    t = await createTestEverytick({
      now: '2027-01-01T00:00:00Z',
      jobs: [job],
      schedules: [
        schedule({ key: 'holidays', every: '1s', job, exclude: ['2027-01-01'] }),
        schedule({ key: 'later', every: '1s', job, startAt: '2027-01-02T00:00:00Z' }),
        schedule({ key: 'hourly', every: '1h', job }),
      ],
    })
    let written = 0
    const { planning } = t.store
    const planner = createPlanner({
      planning: {
        ...planning,
        record(plans) {
          written += plans.length
          return planning.record(plans)
        },
      },
      leadership: everybodyLeads,
      lookaheadMs: 10_000,
      onFact: () => {},
    })
    for (let pass = 0; pass < 5; pass++) await planner.pass()
    expect(written).toBeLessThanOrEqual(3)
    const before = written
    for (let pass = 0; pass < 20; pass++) {
      t.clock.moveBy(1000)
      expect(await planner.pass()).toBeGreaterThan(0)
    }
    expect(written).toBe(before)
  })

  it('that is not alone plans each occurrence once all the same', async () => {
    t = await createTestEverytick({
      now: '2027-01-01T00:00:30Z',
      jobs: [job],
      planner: { mode: 'all' },
      schedules: [schedule({ key: 'minutely', every: '1m', job })],
    })
    const other = createPlanner({
      planning: t.store.planning,
      leadership: everybodyLeads,
      lookaheadMs: 10_000,
      onFact: () => {},
    })
    for (let minute = 0; minute < 3; minute++) {
      await t.advance('55s')
      await Promise.all([other.pass(), t.advance('5s')])
    }
    expect(t.runs().map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect((await t.store.locks.list()).map(({ name }) => name)).not.toContain('planner')
  })
})
