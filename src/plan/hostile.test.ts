/** Schedules that are much work to plan: each pass does a bounded part of it, and the passes together account for every occurrence once. */
import { describe, expect, it } from 'vitest'
import type { CatchUpPolicy, Exclusion, TimingSpec } from '../schedule/schedule.ts'
import { slotsOf } from '../schedule/slots.ts'
import type { NonRun } from './non-run.ts'
import { type DueSchedule, type Plan, type PlannedRun, plan } from './plan.ts'

const HOUR = 3_600_000
const START = Date.parse('2027-03-27T22:00:00Z')
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']

/** A hundred exclusions of which another holds in every second. */
const flickering: Exclusion[] = Array.from({ length: 100 }, (_, i) => ({
  kind: 'cron',
  cron: `${i % 7}-59/7 ${i % 10}-59/10 * * * *`,
  timezone: ZONES[i % ZONES.length]!,
}))
const rules = (of: number): TimingSpec => ({
  kind: 'any',
  of: Array.from({ length: of }, (_, i) => ({
    kind: 'cron',
    cron: `${i}-59/${2 + i} * * * * *`,
    timezone: ZONES[i % 5]!,
  })),
})
const secondly = { kind: 'cron', cron: '* * * * * *', timezone: 'UTC' } as const

const base: DueSchedule = {
  ...{ id: '0190163d-8694-739b-aea5-966c26f8ad90', workspace: 'w', key: 'hostile', revision: 1, timing: secondly },
  catchUp: { catchUp: 'latest', windowMs: 24 * HOUR, limit: 100 },
  firing: { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null },
  ...{ nextAt: START, watermarkAt: START, runCount: 0, pausedUntil: null, pauseDetail: '' },
}

interface Lived {
  readonly runs: readonly PlannedRun[]
  readonly nonRuns: readonly NonRun[]
  readonly passes: readonly Plan[]
  readonly watermarkAt: number
}

/** Plans until nothing is left to do at `now`, as the planner does. */
function live(given: DueSchedule, now: number): Lived {
  const runs: PlannedRun[] = []
  const nonRuns: NonRun[] = []
  const passes: Plan[] = []
  let schedule = given
  for (;;) {
    const made = plan(schedule, { now, untilAt: now + 1000, maxRuns: 500, graceMs: 2000 })
    passes.push(made)
    runs.push(...made.runs)
    nonRuns.push(...made.nonRuns)
    const moved = made.nextAt !== schedule.nextAt || made.watermarkAt !== schedule.watermarkAt || made.resumes
    const pausedUntil = made.resumes ? null : schedule.pausedUntil
    const { watermarkAt, nextAt } = made
    if (nextAt === null || !moved) return { runs, nonRuns, passes, watermarkAt }
    schedule = { ...schedule, nextAt, watermarkAt, pausedUntil, runCount: schedule.runCount + made.runs.length }
    if (nextAt > now + 1000) return { runs, nonRuns, passes, watermarkAt }
  }
}

function expectAccounted({ runs, nonRuns, watermarkAt }: Lived, timing: TimingSpec): void {
  const slots = slotsOf(timing, 'w/hostile')
  const taken: { fromAt: number; toAt: number }[] = runs.map(({ scheduledAt }) => ({
    fromAt: scheduledAt,
    toAt: scheduledAt,
  }))
  for (const { fromAt, toAt, count } of nonRuns) {
    let walked = 0
    for (let at = slots.nextAt(fromAt - 1); at !== null && at <= toAt; at = slots.nextAt(at)) walked++
    expect(count).toBe(walked)
    taken.push({ fromAt, toAt })
  }
  taken.sort((a, b) => a.fromAt - b.fromAt)
  let at = START
  for (const { fromAt, toAt } of taken) {
    expect(slots.nextAt(at)).toBe(fromAt)
    at = toAt
  }
  expect(slots.nextAt(at)! > watermarkAt).toBe(true)
}

const policies: readonly CatchUpPolicy[] = [
  { catchUp: 'latest', windowMs: 24 * HOUR, limit: 100 },
  { catchUp: 'none', windowMs: 24 * HOUR, limit: 100 },
  { catchUp: 'all', windowMs: 24 * HOUR, limit: 50 },
  { catchUp: 'all', windowMs: HOUR / 2, limit: 50 },
]

describe('a pass over a schedule that is much work', () => {
  it.each<[string, TimingSpec]>([
    ['a hundred exclusions that take turns', { ...secondly, exclude: flickering }],
    ['ten rules of different zones', rules(10)],
    ['ten rules with exclusions', { ...rules(10), exclude: flickering.slice(0, 20) }],
    ['a start that is still to come', { ...rules(10), startAt: START + HOUR / 2 }],
  ])('with %s is bounded, and the next one goes on from there', (_, timing) => {
    for (const catchUp of policies) {
      const lived = live({ ...base, timing, catchUp }, START + HOUR)
      expectAccounted(lived, timing)
      for (const { nonRuns } of lived.passes) expect(nonRuns.length).toBeLessThanOrEqual(1000)
    }
    expect(live({ ...base, timing }, START + HOUR).passes.length).toBeGreaterThan(2)
  })

  it('takes as many passes as it needs to account for a pause, which ends with the last of them', () => {
    const timing = rules(10)
    const lived = live({ ...base, timing, pausedUntil: START + HOUR / 2, pauseDetail: 'by ana' }, START + HOUR)
    expectAccounted(lived, timing)
    const resuming = lived.passes.findIndex(({ resumes }) => resumes)
    expect(resuming).toBeGreaterThan(2)
    expect(lived.passes.slice(0, resuming).every(({ nextAt }) => nextAt === START)).toBe(true)
  })

  it('does not end a schedule that has made all its runs before the rest is on record', () => {
    const timing = rules(10)
    const firing = { ...base.firing, maxRuns: 3 }
    const lived = live({ ...base, timing, firing, catchUp: policies[2]! }, START + HOUR)
    expectAccounted(lived, timing)
    expect(lived.passes.at(-1)!.nextAt).toBeNull()
  })
})
