import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CatchUpPolicy, TimingSpec } from '../schedule/schedule.ts'
import { occurrenceId } from './occurrence.ts'
import { type DueSchedule, type Plan, type PlanWindow, plan } from './plan.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const minutely: TimingSpec = { kind: 'interval', everyMs: MINUTE, anchorAt: 0 }

function schedule(change: Partial<DueSchedule> = {}): DueSchedule {
  return {
    id: '0190163d-8694-739b-aea5-966c26f8ad90',
    workspace: 'default',
    key: 'sync',
    revision: 4,
    timing: minutely,
    catchUp: { catchUp: 'latest', windowMs: 24 * HOUR, limit: 100 },
    nextAt: 10 * MINUTE,
    watermarkAt: 9 * MINUTE,
    pausedUntil: null,
    ...change,
  }
}

const at = (now: number, change: Partial<PlanWindow> = {}): PlanWindow => ({
  now,
  untilAt: now + 10_000,
  maxRuns: 100,
  graceMs: 30_000,
  ...change,
})

const minutes = (made: Plan): number[] => made.runs.map((run) => run.scheduledAt / MINUTE)

describe('a plan', () => {
  it('makes a run of the occurrence within the lookahead, and moves the cursor to the one after', () => {
    const made = plan(schedule(), at(10 * MINUTE - 5000))
    expect(made).toEqual({
      scheduleId: schedule().id,
      revision: 4,
      expectedNextAt: 10 * MINUTE,
      nextAt: 11 * MINUTE,
      watermarkAt: 10 * MINUTE,
      runs: [
        {
          id: occurrenceId(schedule().id, 10 * MINUTE),
          scheduledAt: 10 * MINUTE,
          slotStartAt: 9 * MINUTE,
          dueAt: 10 * MINUTE,
          trigger: 'schedule',
        },
      ],
      nonRuns: [],
      resumes: false,
    })
  })

  it('includes the occurrence at the very end of the lookahead, and none beyond it', () => {
    expect(minutes(plan(schedule(), at(0, { untilAt: 12 * MINUTE })))).toEqual([10, 11, 12])
    expect(minutes(plan(schedule(), at(0, { untilAt: 12 * MINUTE - 1 })))).toEqual([10, 11])
    expect(plan(schedule(), at(0, { untilAt: 0 }))).toMatchObject({ runs: [], nextAt: 10 * MINUTE })
  })

  it('stops after as many runs as one pass may make, and the next pass goes on there', () => {
    const window = at(0, { untilAt: HOUR, maxRuns: 2 })
    const first = plan(schedule(), window)
    expect(minutes(first)).toEqual([10, 11])
    const next = schedule({ nextAt: first.nextAt!, watermarkAt: first.watermarkAt })
    expect(minutes(plan(next, window))).toEqual([12, 13])
  })

  it('plans nothing at or below the watermark, even where the cursor stands there', () => {
    const made = plan(schedule({ watermarkAt: 12 * MINUTE }), at(0, { untilAt: 14 * MINUTE }))
    expect(minutes(made)).toEqual([13, 14])
    expect(made.expectedNextAt).toBe(10 * MINUTE)
  })

  it('never moves the watermark back', () => {
    expect(plan(schedule({ watermarkAt: 50 * MINUTE }), at(0)).watermarkAt).toBe(50 * MINUTE)
  })

  it('parks the cursor of a timing that has no more occurrences', () => {
    const once = schedule({ timing: { kind: 'once', at: 10 * MINUTE } })
    expect(plan(once, at(10 * MINUTE))).toMatchObject({ nextAt: null, runs: [{ slotStartAt: null }] })
    const over = { ...once, watermarkAt: 10 * MINUTE }
    expect(plan(over, at(10 * MINUTE))).toMatchObject({ nextAt: null, runs: [], watermarkAt: 10 * MINUTE })
  })

  it('takes an occurrence as late only when it is older than the grace', () => {
    const every = { catchUp: 'none', windowMs: HOUR, limit: 1 } as const
    expect(plan(schedule({ catchUp: every }), at(10 * MINUTE + 30_000)).nonRuns).toEqual([])
    expect(plan(schedule({ catchUp: every }), at(10 * MINUTE + 30_001)).nonRuns).toMatchObject([{ count: 1 }])
  })

  it('tells runs that make up for an outage from runs that are on time', () => {
    const all = { catchUp: 'all', windowMs: HOUR, limit: 100 } as const
    const made = plan(schedule({ catchUp: all }), at(13 * MINUTE + 10_000))
    expect(made.runs.map((run) => run.trigger)).toEqual(['catch_up', 'catch_up', 'catch_up', 'schedule'])
    expect(made.runs.map((run) => run.dueAt)).toEqual(made.runs.map((run) => run.scheduledAt))
  })

  it('moves the watermark over what was missed, even when nothing runs', () => {
    const none = { catchUp: 'none', windowMs: HOUR, limit: 1 } as const
    const made = plan(schedule({ catchUp: none }), at(20 * MINUTE + 45_000))
    expect(made).toMatchObject({ runs: [], watermarkAt: 20 * MINUTE, nextAt: 21 * MINUTE })
    expect(made.nonRuns).toMatchObject([{ fromAt: 10 * MINUTE, toAt: 20 * MINUTE, count: 11, reason: 'policy' }])
  })

  it('spreads H by workspace and key, so that any node computes the same', () => {
    const timing: TimingSpec = { kind: 'cron', cron: 'H H * * *', timezone: 'Europe/Berlin' }
    const of = (key: string): number | null =>
      plan(schedule({ timing, key, nextAt: 0, watermarkAt: 0 }), at(0, { untilAt: 0 })).nextAt
    expect(of('a')).toBe(of('a'))
    expect(new Set(['a', 'b', 'c', 'd', 'e'].map(of)).size).toBeGreaterThan(1)
  })

  it('refuses a stored timing that cannot be read, for the planner to set the schedule aside', () => {
    const timing: TimingSpec = { kind: 'cron', cron: '99 * * * *', timezone: 'UTC' }
    expect(() => plan(schedule({ timing }), at(0))).toThrow(expect.objectContaining({ code: 'CRON_RANGE' }))
  })
})

/** Plans pass after pass, as a planner that is now and then away, and collects what came of each occurrence. */
function live(start: DueSchedule, passes: readonly PlanWindow[]): { plans: Plan[]; last: DueSchedule } {
  const plans: Plan[] = []
  let last = start
  for (const window of passes) {
    const made = plan(last, window)
    plans.push(made)
    if (made.nextAt === null) break
    last = { ...last, nextAt: made.nextAt, watermarkAt: made.watermarkAt }
  }
  return { plans, last }
}

const policies: fc.Arbitrary<CatchUpPolicy> = fc.record({
  catchUp: fc.constantFrom('none', 'latest', 'all'),
  windowMs: fc.integer({ min: 0, max: 30 * MINUTE }),
  limit: fc.integer({ min: 0, max: 20 }),
})
const pauses = fc.array(fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: HOUR })), {
  minLength: 1,
  maxLength: 30,
})

describe('plans, one after the other, with outages between them', () => {
  it('account for every occurrence once, in order, whatever the policy', () => {
    const property = fc.property(
      policies,
      pauses,
      fc.integer({ min: 7000, max: 5 * MINUTE }),
      fc.integer({ min: 1, max: 8 }),
      (catchUp, gaps, everyMs, maxRuns) => {
        let now = 0
        const passes = gaps.map((gap) => {
          now += gap
          return at(now, { maxRuns })
        })
        const timing: TimingSpec = { kind: 'interval', everyMs, anchorAt: 0 }
        const start = schedule({ timing, catchUp, nextAt: everyMs, watermarkAt: 0 })
        const { plans, last } = live(start, passes)
        let accounted = 0
        for (const made of plans) {
          for (const { fromAt, toAt, count } of made.nonRuns) {
            expect(fromAt).toBe((accounted + 1) * everyMs)
            accounted += count
            expect(toAt).toBe(accounted * everyMs)
          }
          for (const run of made.runs) expect(run.scheduledAt).toBe(++accounted * everyMs)
          expect(made.runs.length).toBeLessThanOrEqual(maxRuns)
        }
        expect(last.nextAt).toBe((accounted + 1) * everyMs)
        expect(last.watermarkAt).toBe(accounted * everyMs)
      },
    )
    fc.assert(property, { numRuns: 300 })
  })
})

describe('a schedule that is paused until an instant', () => {
  it('ends its pause there: what was passed over is one record, and the next occurrence comes after', () => {
    const paused = schedule({ nextAt: 20 * MINUTE, pausedUntil: 20 * MINUTE, watermarkAt: 9 * MINUTE })
    expect(plan(paused, at(20 * MINUTE - 5000))).toEqual({
      scheduleId: paused.id,
      revision: 4,
      expectedNextAt: 20 * MINUTE,
      nextAt: 21 * MINUTE,
      watermarkAt: 20 * MINUTE,
      runs: [],
      nonRuns: [{ state: 'skipped', reason: 'paused', fromAt: 10 * MINUTE, toAt: 20 * MINUTE, count: 11 }],
      resumes: true,
    })
  })

  it('has nothing on record when no occurrence fell into the pause', () => {
    const paused = schedule({ nextAt: 9.5 * MINUTE, pausedUntil: 9.5 * MINUTE, watermarkAt: 9 * MINUTE })
    expect(plan(paused, at(9.5 * MINUTE))).toMatchObject({ nonRuns: [], nextAt: 10 * MINUTE, resumes: true })
  })
})
