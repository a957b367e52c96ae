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
    firing: { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null },
    runCount: 0,
    pausedUntil: null,
    pauseDetail: '',
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
      expectedWatermarkAt: 9 * MINUTE,
      nextAt: 11 * MINUTE,
      watermarkAt: 10 * MINUTE,
      runs: [
        {
          id: occurrenceId(schedule().id, 10 * MINUTE),
          scheduledAt: 10 * MINUTE,
          slotStartAt: 9 * MINUTE,
          dueAt: 10 * MINUTE,
          trigger: 'schedule',
          overlap: 'skip',
        },
      ],
      group: schedule().id,
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
  const paused = schedule({
    ...{ nextAt: 20 * MINUTE, pausedUntil: 20 * MINUTE, watermarkAt: 9 * MINUTE },
    pauseDetail: 'by ana: vendor outage',
  })

  it('ends its pause there: what was passed over is one record, and the next occurrence comes after', () => {
    expect(plan(paused, at(20 * MINUTE))).toEqual({
      scheduleId: paused.id,
      revision: 4,
      expectedNextAt: 20 * MINUTE,
      expectedWatermarkAt: 9 * MINUTE,
      nextAt: 21 * MINUTE,
      watermarkAt: 20 * MINUTE,
      group: null,
      runs: [],
      nonRuns: [
        {
          ...{ state: 'skipped', reason: 'paused', detail: 'by ana: vendor outage' },
          ...{ fromAt: 10 * MINUTE, toAt: 20 * MINUTE, count: 11, afterAt: 9 * MINUTE },
        },
      ],
      resumes: true,
    })
  })

  it('is looked at again at that instant, and not a lookahead before it', () => {
    const early = plan(paused, at(20 * MINUTE - 5000))
    expect(early).toMatchObject({ runs: [], nonRuns: [], resumes: false, watermarkAt: 9 * MINUTE })
    expect(early.nextAt).toBe(20 * MINUTE + 10_000)
  })

  it('has nothing on record when no occurrence fell into the pause', () => {
    const paused = schedule({ nextAt: 9.5 * MINUTE, pausedUntil: 9.5 * MINUTE, watermarkAt: 9 * MINUTE })
    expect(plan(paused, at(9.5 * MINUTE))).toMatchObject({ nonRuns: [], nextAt: 10 * MINUTE, resumes: true })
  })
})

describe('occurrences that may not run', () => {
  const excluded = (from: number, to: number): TimingSpec => ({
    ...minutely,
    exclude: [{ kind: 'range', fromAt: from * MINUTE, toAt: to * MINUTE }],
  })

  it('are one record when they have passed, and the rest runs', () => {
    const made = plan(
      schedule({ timing: excluded(12, 14) }),
      at(0, { now: 20 * MINUTE, untilAt: 20 * MINUTE, graceMs: HOUR }),
    )
    expect(minutes(made)).toEqual([10, 11, 14, 15, 16, 17, 18, 19, 20])
    expect(made.nonRuns).toMatchObject([
      { state: 'skipped', reason: 'excluded', fromAt: 12 * MINUTE, toAt: 13 * MINUTE, count: 2, afterAt: 11 * MINUTE },
    ])
  })

  it('are one record where an excluded expression names one after another', () => {
    const timing: TimingSpec = { ...minutely, exclude: [{ kind: 'cron', cron: '12,13,14 * * * *', timezone: 'UTC' }] }
    const made = plan(schedule({ timing }), at(20 * MINUTE, { untilAt: 20 * MINUTE, graceMs: HOUR }))
    expect(made.nonRuns).toMatchObject([{ fromAt: 12 * MINUTE, toAt: 14 * MINUTE, count: 3 }])
    const apart: TimingSpec = { ...minutely, exclude: [{ kind: 'cron', cron: '0 12-14 * * * *', timezone: 'UTC' }] }
    const joined = plan(schedule({ timing: apart }), at(20 * MINUTE, { untilAt: 20 * MINUTE, graceMs: HOUR }))
    expect(joined.nonRuns).toMatchObject([{ fromAt: 12 * MINUTE, toAt: 14 * MINUTE, count: 3 }])
    const seconds = { kind: 'interval', everyMs: 30_000, anchorAt: 0 } as const
    const odd: TimingSpec = {
      ...seconds,
      exclude: [
        { kind: 'cron', cron: '30 10 * * * *', timezone: 'UTC' },
        { kind: 'cron', cron: '11 * * * *', timezone: 'UTC' },
      ],
    }
    const both = plan(
      schedule({ timing: odd, watermarkAt: 10 * MINUTE }),
      at(12 * MINUTE, { untilAt: 12 * MINUTE, graceMs: HOUR }),
    )
    expect(both.nonRuns.map(({ detail, count }) => [detail, count])).toEqual([
      ['30 10 * * * *', 1],
      ['11 * * * *', 2],
    ])
  })

  it('are never recorded ahead of time: planning looks again when the last of them has passed', () => {
    const made = plan(schedule({ timing: excluded(10, 15) }), at(10 * MINUTE - 5000))
    expect(made).toMatchObject({ runs: [], nonRuns: [], watermarkAt: 9 * MINUTE, nextAt: 14 * MINUTE + 10_000 })
    const after = plan(schedule({ timing: excluded(10, 15), nextAt: made.nextAt! }), at(14 * MINUTE))
    expect(after.nonRuns).toMatchObject([{ fromAt: 10 * MINUTE, toAt: 14 * MINUTE, count: 5 }])
    expect(after).toMatchObject({ runs: [], watermarkAt: 14 * MINUTE, nextAt: 15 * MINUTE })
  })

  it('are not for the catch-up policy, however long the stretch of them was', () => {
    const timing = { ...minutely, startAt: 70 * MINUTE }
    const made = plan(schedule({ timing, nextAt: 69 * MINUTE + 10_000 }), at(69 * MINUTE))
    expect(made.nonRuns).toMatchObject([{ state: 'skipped', reason: 'before_start', count: 60 }])
    const later = plan(schedule({ timing: excluded(10, 70) }), at(75 * MINUTE + 40_000))
    expect(later.nonRuns).toMatchObject([
      { reason: 'excluded', fromAt: 10 * MINUTE, count: 60 },
      { state: 'missed', reason: 'policy', fromAt: 70 * MINUTE, count: 5 },
    ])
    expect(minutes(later)).toEqual([75])
  })

  it('are before_start until the start, however far away it is', () => {
    const timing = { ...minutely, startAt: 1_000_000 * MINUTE }
    const made = plan(schedule({ timing }), at(10 * MINUTE))
    expect(made.nonRuns).toMatchObject([{ reason: 'before_start', count: 1 }])
    expect(made.nextAt).toBe(999_999 * MINUTE + 10_000)
  })

  it('end with endAt, after which there are none at all', () => {
    const timing = { ...minutely, endAt: 12 * MINUTE }
    expect(plan(schedule({ timing }), at(0, { untilAt: HOUR }))).toMatchObject({ nextAt: null, runs: [{}, {}, {}] })
  })

  it('are max_runs once as many runs were made, and the schedule is done', () => {
    const firing = { overlap: 'skip', jitter: null, maxRuns: 7, concurrencyKey: null } as const
    const caught = { catchUp: 'all', windowMs: HOUR, limit: 100 } as const
    const made = plan(schedule({ firing, runCount: 5, catchUp: caught }), at(20 * MINUTE))
    expect(minutes(made)).toEqual([10, 11])
    expect(made.nonRuns).toMatchObject([{ reason: 'max_runs', fromAt: 12 * MINUTE, toAt: 20 * MINUTE, count: 9 }])
    expect(plan(schedule({ firing, runCount: 7, watermarkAt: 20 * MINUTE }), at(21 * MINUTE - 5000)).nextAt).toBeNull()
  })

  it('are dst_gap where the clock jumps over them and the schedule asked to skip them', () => {
    const timing: TimingSpec = { kind: 'cron', cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: { gap: 'skip' } }
    const before = Date.parse('2027-03-27T01:30:00Z')
    const now = Date.parse('2027-03-29T12:00:00Z')
    const made = plan(
      schedule({ timing, nextAt: before, watermarkAt: before - 1 }),
      at(now, { graceMs: 9 * 24 * HOUR }),
    )
    expect(made.runs.map((run) => new Date(run.scheduledAt).toISOString())).toEqual([
      '2027-03-27T01:30:00.000Z',
      '2027-03-29T00:30:00.000Z',
    ])
    const gap = Date.parse('2027-03-28T01:00:00Z')
    expect(made.nonRuns).toMatchObject([{ state: 'skipped', reason: 'dst_gap', fromAt: gap, toAt: gap, count: 1 }])
  })
})

describe('jitter', () => {
  const with5m = {
    overlap: 'allow',
    jitter: { max: { ms: 300_000 }, per: 'occurrence' },
    maxRuns: null,
    concurrencyKey: null,
  } as const

  it('puts off the start and never the identity, and never as far as the next occurrence', () => {
    const plainly = plan(schedule(), at(0, { untilAt: HOUR }))
    const late = plan(schedule({ firing: with5m }), at(0, { untilAt: HOUR }))
    expect(late.runs.map(({ id, scheduledAt }) => [id, scheduledAt])).toEqual(
      plainly.runs.map(({ id, scheduledAt }) => [id, scheduledAt]),
    )
    for (const { dueAt, scheduledAt } of late.runs) {
      expect(dueAt).toBeGreaterThanOrEqual(scheduledAt)
      expect(dueAt).toBeLessThan(scheduledAt + MINUTE)
    }
    expect(new Set(late.runs.map(({ dueAt, scheduledAt }) => dueAt - scheduledAt)).size).toBeGreaterThan(10)
  })

  it('does not put off any further what was missed', () => {
    const hourly: TimingSpec = { kind: 'interval', everyMs: HOUR, anchorAt: 0 }
    const made = plan(
      schedule({ timing: hourly, firing: with5m, nextAt: HOUR, watermarkAt: 0 }),
      at(HOUR + 30 * MINUTE),
    )
    expect(made.runs).toMatchObject([{ trigger: 'catch_up', scheduledAt: HOUR, dueAt: HOUR }])
  })

  it('does not switch catch-up off by being longer than the gap between two occurrences', () => {
    const none = { catchUp: 'none', windowMs: HOUR, limit: 1 } as const
    const long = { ...with5m, jitter: { max: { ms: HOUR }, per: 'schedule' } } as const
    const made = plan(schedule({ firing: long, catchUp: none }), at(20 * MINUTE))
    expect(made.nonRuns).toMatchObject([{ reason: 'policy', fromAt: 10 * MINUTE, toAt: 18 * MINUTE }])
  })

  it('does not make what it put off look missed', () => {
    const hourly: TimingSpec = { kind: 'interval', everyMs: HOUR, anchorAt: 0 }
    const none = { catchUp: 'none', windowMs: HOUR, limit: 1 } as const
    const made = plan(
      schedule({ timing: hourly, firing: with5m, catchUp: none, nextAt: HOUR, watermarkAt: 0 }),
      at(HOUR + 4 * MINUTE),
    )
    expect(made).toMatchObject({ nonRuns: [], runs: [{ trigger: 'schedule' }] })
  })
})

describe('the concurrency group of a plan', () => {
  const firing = (overlap: 'skip' | 'allow', concurrencyKey: string | null) => ({
    overlap,
    jitter: null,
    maxRuns: null,
    concurrencyKey,
  })

  it.each([
    ['its schedule', firing('skip', null), schedule().id, 'skip'],
    ['none where runs may overlap', firing('allow', null), null, 'allow'],
    ['its concurrency key, which others may share', firing('skip', 'crm'), 'default\ncrm', 'skip'],
    [
      'its concurrency key even where runs may overlap, and then they wait',
      firing('allow', 'crm'),
      'default\ncrm',
      'queue',
    ],
  ] as const)('is %s', (_, policy, group, overlap) => {
    expect(plan(schedule({ firing: policy }), at(10 * MINUTE))).toMatchObject({ group, runs: [{ overlap }] })
  })

  it('lets what was missed wait in line rather than be skipped a second time', () => {
    const all = { catchUp: 'all', windowMs: HOUR, limit: 100 } as const
    const made = plan(schedule({ catchUp: all }), at(12 * MINUTE + 10_000))
    expect(made.runs.map(({ overlap }) => overlap)).toEqual(['queue', 'queue', 'skip'])
  })

  it.each([
    ['skip', 'queue'],
    ['queue', 'queue'],
    ['queue_one', 'queue'],
    ['cancel_previous', 'queue'],
    ['allow', 'allow'],
  ] as const)('lets the one that catch-up `latest` leaves under %s run as %s', (overlap, late) => {
    const policy = { ...schedule().firing, overlap }
    const made = plan(schedule({ firing: policy }), at(12 * MINUTE + 10_000))
    expect(made.runs.map(({ trigger, overlap }) => [trigger, overlap])).toEqual([
      ['catch_up', late],
      ['schedule', overlap],
    ])
  })
})
