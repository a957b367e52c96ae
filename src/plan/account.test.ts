import { describe, expect, it } from 'vitest'
import type { Schedule } from '../schedule/schedule.ts'
import { accountUpTo } from './account.ts'
import type { Plan } from './plan.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

function schedule(change: Partial<Schedule> = {}): Schedule {
  return {
    ...{ id: '0190163d-8694-739b-aea5-966c26f8ad90', workspace: 'default', key: 'sync', job: 'sync', queue: 'default' },
    ...{ payload: null, priority: 5, description: '', tags: [], metadata: null, source: 'api', revision: 4 },
    ...{ createdAt: 0, createdBy: 'api', updatedAt: 0, updatedBy: 'api', sinceAt: 0, pause: null, quarantine: null },
    timing: { kind: 'interval', everyMs: MINUTE, anchorAt: 0 },
    policy: { retry: { attempts: 3, backoff: 'exponential', baseMs: 1000, maxMs: HOUR } },
    catchUp: { catchUp: 'latest', windowMs: 24 * HOUR, limit: 100 },
    firing: { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null },
    nextAt: 10 * MINUTE,
    watermarkAt: 9 * MINUTE,
    runCount: 0,
    ...change,
  }
}

const paused = (until: number | null) => ({ reason: 'vendor outage', by: 'ana', at: 9 * MINUTE, until })

/** Steps as a caller takes them, until nothing is left to record. */
function settled(from: Schedule, now: number): Plan[] {
  const steps: Plan[] = []
  let at = from
  for (let step = accountUpTo(at, now); step; step = accountUpTo(at, now)) {
    steps.push(step)
    const { nextAt, watermarkAt, resumes } = step
    at = { ...at, nextAt, watermarkAt, runCount: at.runCount + step.runs.length, pause: resumes ? null : at.pause }
  }
  return steps
}

describe('the past of a definition that is about to change', () => {
  it('is nothing when every occurrence up to now has its run', () => {
    expect(accountUpTo(schedule({ nextAt: 11 * MINUTE, watermarkAt: 10 * MINUTE }), 10.5 * MINUTE)).toBeNull()
  })

  it('is what planning would have made of it, and not one occurrence more', () => {
    const step = accountUpTo(schedule(), 14.5 * MINUTE)!
    expect(step).toMatchObject({ revision: 4, expectedNextAt: 10 * MINUTE, nextAt: 15 * MINUTE, resumes: false })
    expect(step.nonRuns).toMatchObject([{ state: 'missed', reason: 'policy', count: 4, toAt: 13 * MINUTE }])
    expect(step.runs).toMatchObject([{ scheduledAt: 14 * MINUTE, trigger: 'catch_up' }])
  })

  it('is taken in several steps when it is long', () => {
    const all = schedule({ catchUp: { catchUp: 'all', windowMs: 1000 * HOUR, limit: 1_000_000 } })
    const steps = settled(all, 200 * HOUR + 1)
    expect(steps.length).toBeGreaterThan(1)
    expect(steps.flatMap(({ runs }) => runs)).toHaveLength(200 * 60 - 9)
  })

  it('is one range while it is paused, with the words of the pause, and the cursor stays', () => {
    const step = accountUpTo(schedule({ pause: paused(null), nextAt: null }), 12.5 * MINUTE)!
    expect(step).toMatchObject({ expectedNextAt: null, nextAt: null, watermarkAt: 12.5 * MINUTE, resumes: false })
    expect(step.nonRuns).toMatchObject([{ reason: 'paused', detail: 'by ana: vendor outage', count: 3 }])
    expect(step.runs).toEqual([])
  })

  it('of a pause whose end nobody noticed is paused up to there, and missed after it', () => {
    const [end, rest, ...more] = settled(schedule({ pause: paused(12 * MINUTE), nextAt: 12 * MINUTE }), 15.5 * MINUTE)
    expect(end).toMatchObject({ resumes: true, runs: [], nonRuns: [{ reason: 'paused', count: 3, toAt: 12 * MINUTE }] })
    expect(rest).toMatchObject({ nonRuns: [{ reason: 'policy', count: 2 }], runs: [{ scheduledAt: 15 * MINUTE }] })
    expect(more).toEqual([])
  })

  it('of one that is done, is that there were no runs left', () => {
    const firing = { ...schedule().firing, maxRuns: 3 }
    expect(accountUpTo(schedule({ firing, runCount: 3, nextAt: null }), 12.5 * MINUTE)).toMatchObject({
      ...{ expectedNextAt: null, runs: [] },
      nonRuns: [{ state: 'skipped', reason: 'max_runs', count: 3 }],
    })
  })

  it('is not known when the timing cannot be read', () => {
    const unreadable = { kind: 'cron', cron: '* * * * *', timezone: 'Mars/Olympus' } as const
    expect(accountUpTo(schedule({ timing: unreadable }), HOUR)).toBeNull()
  })

  it('of one that was set aside is accounted for where this build can read it, and its cursor stays parked', () => {
    const quarantine = { code: 'TIMING_STUCK', message: '', at: 0 }
    const step = accountUpTo(schedule({ quarantine, nextAt: null }), HOUR)
    expect(step).toMatchObject({ expectedNextAt: null, nextAt: null })
    expect(step!.runs.length + step!.nonRuns.length).toBeGreaterThan(0)
  })
})
