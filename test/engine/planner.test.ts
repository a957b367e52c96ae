/** How often the planner writes: only when something moves, however often it looks, and page by page; with a leader or without. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { everybodyLeads } from '../../src/engine/leadership.ts'
import { createPlanner } from '../../src/engine/planner.ts'
import { defineJob, schedule } from '../../src/index.ts'
import type { EngineEvent } from '../../src/observe/engine-event.ts'
import { NO_FAILOVERS } from '../../src/store/contract/failovers.ts'
import type { PlanningStore } from '../../src/store/contract/planning.ts'
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
      failovers: NO_FAILOVERS,
      planning: {
        ...planning,
        record(plans) {
          written += plans.length
          return planning.record(plans)
        },
      },
      leadership: everybodyLeads,
      lookaheadMs: 10_000,
      onEvent: () => {},
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

  it('plans nothing while it is not certain that the database is the one last seen', async () => {
    t = await createTestEverytick({ now: '2027-01-01T00:00:00Z', jobs: [job] })
    await t.app.schedules.upsert(schedule({ key: 'often', every: '1s', job }))
    t.clock.moveBy(60_000)
    const confirm = () => Promise.reject(new Error('not recorded'))
    const { planning } = t.store
    const options = { planning, leadership: everybodyLeads, lookaheadMs: 10_000, onEvent: () => {} }
    const [before] = (await planning.due({ lookaheadMs: 10_000, limit: 1 })).schedules
    await expect(createPlanner({ ...options, failovers: { confirm } }).pass()).rejects.toThrow('not recorded')
    expect((await planning.due({ lookaheadMs: 10_000, limit: 1 })).schedules).toEqual([before])
    await createPlanner({ ...options, failovers: NO_FAILOVERS }).pass()
    expect((await planning.due({ lookaheadMs: 10_000, limit: 1 })).schedules).toEqual([])
  })

  describe('with more due than fits a page', () => {
    const MANY = 2500

    beforeEach(async () => {
      const schedules = Array.from({ length: MANY }, (_, n) => schedule({ key: `minutely-${n}`, every: '1m', job }))
      t = await createTestEverytick({ now: '2027-01-01T00:00:30Z', jobs: [job], schedules })
    })

    const plannerOf = (planning: PlanningStore, onEvent: (fact: EngineEvent) => void = () => {}) =>
      createPlanner({ planning, failovers: NO_FAILOVERS, leadership: everybodyLeads, lookaheadMs: 60_000, onEvent })

    it('looks for the next page while one is written, and plans nothing twice', async () => {
      const { planning } = t.store
      let looks = 0
      let lookedAgain = () => {}
      const again = new Promise<void>((resolve) => {
        lookedAgain = resolve
      })
      const facts: EngineEvent[] = []
      const planner = plannerOf(
        {
          ...planning,
          recordsAtOnce: 2,
          due(page) {
            if (++looks === 2) lookedAgain()
            return planning.due(page)
          },
          async record(plans) {
            await again
            return planning.record(plans)
          },
        },
        (fact) => facts.push(fact),
      )
      await planner.pass()
      expect(facts).toEqual([1000, 1000, 500].map((runs) => ({ kind: 'schedule.planned', runs, stale: 0 })))
    })

    it('fails with the page that could not be written, when the one beside it has been', async () => {
      const { planning } = t.store
      let [writes, written] = [0, 0]
      const planner = plannerOf({
        ...planning,
        recordsAtOnce: 2,
        async record(plans) {
          if (++writes === 1) throw new Error('the disk is full')
          const answers = await planning.record(plans)
          written++
          return answers
        },
      })
      await expect(planner.pass()).rejects.toThrow('the disk is full')
      expect(written).toBe(writes - 1)
    })
  })

  it('that is not alone plans each occurrence once all the same', async () => {
    t = await createTestEverytick({
      now: '2027-01-01T00:00:30Z',
      jobs: [job],
      planner: { mode: 'all' },
      schedules: [schedule({ key: 'minutely', every: '1m', job })],
    })
    const other = createPlanner({
      failovers: NO_FAILOVERS,
      planning: t.store.planning,
      leadership: everybodyLeads,
      lookaheadMs: 10_000,
      onEvent: () => {},
    })
    for (let minute = 0; minute < 3; minute++) {
      await t.advance('55s')
      await Promise.all([other.pass(), t.advance('5s')])
    }
    expect(t.runs().map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect((await t.store.locks.list()).map(({ name }) => name)).not.toContain('planner')
  })
})
