import { describe, expect, it } from 'vitest'
import type { RunState } from '../run/state.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { type BackfillStep, estimate, nextStep, type StartedBackfill, stretchOf } from './backfill.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const schedule: Schedule = {
  ...{ id: '0190163d-8694-739b-aea5-966c26f8ad90', workspace: 't_1', key: 'sync', job: 'sync', queue: 'big' },
  ...{
    payload: { of: 'schedule' },
    priority: 7,
    description: '',
    tags: [],
    metadata: null,
    source: 'api',
    revision: 4,
  },
  ...{ createdAt: 0, createdBy: 'api', updatedAt: 0, updatedBy: 'api', sinceAt: 0, pause: null, quarantine: null },
  timing: { kind: 'interval', everyMs: HOUR, anchorAt: 0 },
  policy: { retry: { attempts: 3, backoff: 'exponential', baseMs: 1000, maxMs: HOUR }, pauseOnFailure: 2 },
  catchUp: { catchUp: 'latest', windowMs: DAY, limit: 100 },
  firing: { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null },
  ...{ nextAt: 200 * HOUR, watermarkAt: 199 * HOUR, runCount: 0 },
}
const excluding: Schedule = {
  ...schedule,
  timing: { ...schedule.timing, exclude: [{ kind: 'range', fromAt: 2 * HOUR, toAt: 4 * HOUR }] },
}

const started = (change: Partial<StartedBackfill> = {}): StartedBackfill => ({
  id: '0190163d-8694-739b-aea5-966c26f8ad91',
  ...{ toAt: 10 * HOUR, concurrency: 2, force: false, payload: null },
  ...{ doneUntilAt: HOUR - 1, kept: 0, made: 0, succeeded: 0, failed: 0, cancelled: 0, open: [], state: 'running' },
  ...change,
})

const step = (change: Partial<BackfillStep> = {}): ReturnType<typeof nextStep> =>
  nextStep({ backfill: started(), schedule, ended: new Map(), taken: new Set(), now: 100 * HOUR, ...change })

const hours = ({ runs }: ReturnType<typeof nextStep>): number[] => runs.map(({ slot }) => slot.scheduledAt / HOUR)

describe('a step of a backfill', () => {
  it('makes as many runs as may be unfinished at once, the oldest first', () => {
    const made = step()
    expect(hours(made)).toEqual([1, 2])
    expect(made.progress).toMatchObject({ doneUntilAt: 2 * HOUR, made: 2, kept: 0, state: 'running' })
    expect(made.progress.open).toEqual(made.runs.map(({ id }) => id))
  })

  it('makes no more runs at once than a quarter of a MiB of payloads, and one where a payload alone is more', () => {
    const runsWith = (bytes: number): number => {
      const backfill = started({ toAt: 90 * HOUR, concurrency: 50, payload: 'x'.repeat(bytes) })
      return step({ backfill }).runs.length
    }
    expect([10, 65_000, 240_000].map(runsWith)).toEqual([50, 4, 1])
  })

  it('makes runs as the schedule says, beside whatever else runs, and never for its pauses', () => {
    const [run] = step().runs
    expect(run).toMatchObject({
      ...{
        workspace: 't_1',
        job: 'sync',
        queue: 'big',
        priority: 7,
        trigger: 'backfill',
        group: null,
        overlap: 'allow',
      },
      ...{ payload: { of: 'schedule' }, schedule: { key: 'sync', revision: 4 }, due: { delayMs: 0 } },
      slot: { scheduledAt: HOUR, slotStartAt: 0 },
    })
    expect(run!.policy).not.toHaveProperty('pauseOnFailure')
    expect(step({ backfill: started({ payload: { of: 'backfill' } }) }).runs[0]!.payload).toEqual({ of: 'backfill' })
  })

  it('names its runs by backfill and instant, so that it can be taken twice', () => {
    expect(step().runs).toEqual(step().runs)
    const other = step({ backfill: started({ id: '0190163d-8694-739b-aea5-966c26f8ad92' }) })
    expect(other.runs[0]!.id).not.toBe(step().runs[0]!.id)
  })

  it('counts how its runs ended, and fills their places', () => {
    const backfill = started({ doneUntilAt: 3 * HOUR, made: 3, open: ['a', 'b', 'c'], concurrency: 3 })
    const ended = new Map<string, RunState>([
      ['a', 'succeeded'],
      ['b', 'failed'],
      ['c', 'running'],
    ])
    const made = step({ backfill, ended })
    expect(made.progress).toMatchObject({ succeeded: 1, failed: 1, cancelled: 0, made: 5 })
    expect(hours(made)).toEqual([4, 5])
    expect(made.progress.open[0]).toBe('c')
  })

  it('keeps what ran already, unless it is forced', () => {
    const taken = new Set([HOUR, 3 * HOUR])
    const made = step({ taken })
    expect(hours(made)).toEqual([2, 4])
    expect(made.progress).toMatchObject({ kept: 2, made: 2 })
    expect(hours(step({ taken, backfill: started({ force: true }) }))).toEqual([1, 2])
  })

  it('keeps what the definition keeps from running, even when forced', () => {
    const made = step({ schedule: excluding, backfill: started({ force: true }) })
    expect(hours(made)).toEqual([1, 4])
    expect(made.progress.kept).toBe(2)
  })

  it('is the last when everything was dealt with and no run is open, and all counts add up', () => {
    let backfill = started({ concurrency: 3 })
    for (let n = 0; n < 20 && backfill.state === 'running'; n++) {
      const ended = new Map(backfill.open.map((id) => [id, 'succeeded' as const]))
      backfill = { ...backfill, ...step({ backfill, ended, taken: new Set([5 * HOUR]) }).progress }
    }
    expect(backfill).toMatchObject({ state: 'done', kept: 1, made: 9, succeeded: 9, open: [], doneUntilAt: 10 * HOUR })
  })

  it('deals with a thousand occurrences at most, for which alone it has to know what ran', () => {
    const backfill = started({ toAt: 5000 * HOUR })
    expect(stretchOf({ backfill, schedule })).toEqual({ afterAt: HOUR - 1, untilAt: 1000 * HOUR })
    const taken = new Set(Array.from({ length: 5000 }, (_, n) => (n + 1) * HOUR))
    expect(step({ backfill, taken }).progress).toMatchObject({ kept: 1000, doneUntilAt: 1000 * HOUR, state: 'running' })
    expect(stretchOf({ backfill: started(), schedule }).untilAt).toBe(10 * HOUR)
  })
})

describe('an estimate', () => {
  it('says the same as the steps will do', () => {
    const span = { fromAt: HOUR, toAt: 10 * HOUR, force: false }
    const taken = new Set([9 * HOUR])
    expect(estimate(excluding, span, taken)).toEqual({
      ...{ total: 10, toRun: 7, kept: 3 },
      first: [1, 4, 5, 6, 7, 8, 10].map((hour) => hour * HOUR),
    })
    expect(estimate(excluding, { ...span, force: true }, taken)).toMatchObject({ toRun: 8, kept: 2 })
  })

  it('names a hundred instants at most', () => {
    const { first, toRun } = estimate(schedule, { fromAt: 0, toAt: 500 * HOUR, force: false }, new Set())
    expect([first.length, toRun]).toEqual([100, 501])
  })
})
