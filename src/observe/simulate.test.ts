import { describe, expect, it } from 'vitest'
import type { CatchUpPolicy, FiringPolicy, TimingSpec } from '../schedule/schedule.ts'
import { MAX_OCCURRENCES, type SimulatedWorld, simulate } from './simulate.ts'

const FROM = Date.parse('2027-01-01T00:00:00Z')
const MINUTE = 60_000
const at = (minutes: number): number => FROM + minutes * MINUTE

const FIRING: FiringPolicy = { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null }
const CATCH_UP: CatchUpPolicy = { catchUp: 'latest', windowMs: 3_600_000, limit: 100 }
const MINUTELY: TimingSpec = { kind: 'cron', cron: '* * * * *', timezone: 'UTC' }

interface Given {
  readonly timing?: TimingSpec
  readonly firing?: Partial<FiringPolicy>
  readonly catchUp?: Partial<CatchUpPolicy>
  readonly world?: Partial<SimulatedWorld>
}

const lived = ({ timing = MINUTELY, firing, catchUp, world }: Given) =>
  simulate(
    { workspace: 'w', key: 'k', timing, firing: { ...FIRING, ...firing }, catchUp: { ...CATCH_UP, ...catchUp } },
    { fromAt: FROM, toAt: at(10), outages: [], durationsMs: [1000], ...world },
  )
const words = (given: Given): string[] =>
  lived(given).entries.map(({ outcome, reason }) => `${outcome} ${reason ?? ''}`.trim())

describe('a simulation', () => {
  it('has one entry for every occurrence, in order, each with its times', () => {
    const { entries, untilAt, truncated } = lived({})
    expect({ untilAt, truncated }).toEqual({ untilAt: at(10), truncated: false })
    expect(entries).toHaveLength(10)
    expect(entries[0]).toEqual({
      ...{ scheduledAt: at(1), dueAt: at(1), startedAt: at(1), finishedAt: at(1) + 1000 },
      ...{ outcome: 'ran', reason: null, attempts: 1 },
    })
    expect(entries.at(-1)).toMatchObject({ scheduledAt: at(10), outcome: 'running', finishedAt: null })
  })

  it('lets work take one length after another', () => {
    const { entries } = lived({ world: { durationsMs: [1000, 2000, 3000] } })
    expect(entries.slice(0, 4).map(({ startedAt, finishedAt }) => finishedAt! - startedAt!)).toEqual([
      1000, 2000, 3000, 1000,
    ])
  })

  it('misses, catches up and goes on after an outage', () => {
    const world = { outages: [{ fromAt: at(2.5), toAt: at(6.5) }] }
    expect(words({ world })).toEqual([
      ...['ran', 'ran', 'missed policy', 'missed policy', 'missed policy', 'caught_up'],
      ...['ran', 'ran', 'ran', 'running'],
    ])
  })

  it('takes outages that touch as one', () => {
    const apart = [
      { fromAt: at(4), toAt: at(6.5) },
      { fromAt: at(2.5), toAt: at(5) },
    ]
    expect(words({ world: { outages: apart } })).toEqual(
      words({ world: { outages: [{ fromAt: at(2.5), toAt: at(6.5) }] } }),
    )
  })

  it('tries again what an outage cut short, as often as it may', () => {
    const world = { outages: [{ fromAt: at(1.5), toAt: at(1.6) }], durationsMs: [45_000] }
    const retry = { attempts: 2, backoff: 'fixed', baseMs: 1000, maxMs: 1000 } as const
    expect(lived({ world: { ...world, retry } }).entries[0]).toMatchObject({
      outcome: 'ran',
      reason: 'lost',
      attempts: 2,
    })
    expect(lived({ world: { ...world, retry: { ...retry, attempts: 1 } } }).entries[0]).toMatchObject({
      ...{ outcome: 'failed', reason: 'lost', attempts: 1 },
    })
  })

  it('leaves waiting what nobody has come to when it is over', () => {
    const world = { outages: [{ fromAt: at(7.5), toAt: at(60) }] }
    expect(words({ world }).slice(-3)).toEqual(['waiting outage', 'waiting outage', 'waiting outage'])
  })

  it('says what is excluded, and what comes after the last run', () => {
    const timing: TimingSpec = { ...MINUTELY, exclude: [{ kind: 'range', fromAt: at(2), toAt: at(4) }] }
    expect(words({ timing, firing: { maxRuns: 2 } })).toEqual([
      ...['ran', 'skipped excluded', 'skipped excluded', 'ran', ...Array(6).fill('skipped max_runs')],
    ])
  })

  it('ends, however dense its rules and long its stretch', () => {
    const timing = { kind: 'any', of: [100, 101, 102].map((everyMs) => ({ kind: 'interval', everyMs, anchorAt: 0 })) }
    const { truncated } = lived({ timing: timing as TimingSpec, world: { toAt: at(1_500_000) } })
    expect(truncated).toBe(true)
  })

  it('ends after ten thousand occurrences, and says so', () => {
    const timing: TimingSpec = { kind: 'interval', everyMs: 1000, anchorAt: 0 }
    const { entries, untilAt, truncated } = lived({
      ...{ timing, firing: { overlap: 'queue' }, catchUp: { catchUp: 'all', limit: 1_000_000 } },
      world: { toAt: at(600_000), durationsMs: [90_000], outages: [{ fromAt: at(20), toAt: at(50) }] },
    })
    expect(entries).toHaveLength(MAX_OCCURRENCES)
    expect({ untilAt, truncated }).toEqual({ untilAt: FROM + MAX_OCCURRENCES * 1000, truncated: true })
  })
})
