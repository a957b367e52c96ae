import { describe, expect, it } from 'vitest'
import type { TimingRule, TimingSpec } from './schedule.ts'
import { smallestGapMs } from './smallest-gap.ts'

const FROM = Date.parse('2027-01-04T00:00:00Z')
const cron = (text: string, timezone = 'UTC'): TimingRule => ({ kind: 'cron', cron: text, timezone })
const every = (everyMs: number): TimingRule => ({ kind: 'interval', everyMs, anchorAt: 0 })
const any = (...of: readonly TimingRule[]): TimingSpec => ({ kind: 'any', of })
const gap = (spec: TimingSpec): number => smallestGapMs(spec, { seed: 'default/x', fromAt: FROM }) / 1000

describe('the smallest gap', () => {
  it.each<[string, TimingSpec, number]>([
    ['of every second', cron('* * * * * *'), 1],
    ['of every tenth second', cron('*/10 * * * * *'), 10],
    ['of seconds that are near in the next minute', cron('5,55 * * * * *'), 10],
    ['of every minute', cron('* * * * *'), 60],
    ['of two minutes that are near in the next hour', cron('1,59 * * * *'), 120],
    ['of two minutes of one hour', cron('1,59 9 * * *'), 3480],
    ['of two hours', cron('0 9,17 * * *'), 8 * 3600],
    ['of the last and the first hour', cron('0 0,23 * * *'), 3600],
    ['of once a day', cron('0 9 * * *'), 86_400],
    ['of two seconds on one day in years', cron('0,1 0 0 29 2 *'), 1],
    ['of every second in a month that is far away', cron('* * * * 12 * 2199'), 1],
    ['of a macro that is an interval', cron('@every 250ms'), 0.25],
    ['of an interval', every(100), 0.1],
    ['of a single instant', { kind: 'once', at: FROM }, Number.POSITIVE_INFINITY],
    ['of a rule within others', any(cron('0 9 * * *'), every(500)), 0.5],
    ['of rules together', any(cron('0 0 9 * * *'), cron('1 0 9 * * *')), 1],
    ['of rules that come near seldom', any(cron('0 9 * * *'), cron('30 9 1 * *')), 1800],
    ['of rules that are the same', any(cron('0 9 * * *'), cron('0 9 * * *')), 86_400],
    [
      'whatever is excluded',
      { ...cron('* * * * * *'), exclude: [{ kind: 'cron', cron: '1-59 * * * * *', timezone: 'UTC' }] },
      1,
    ],
    ['whatever the bounds leave', { ...cron('* * * * * *'), startAt: FROM, endAt: FROM }, 1],
  ])('%s', (_, spec, seconds) => {
    expect(gap(spec)).toBe(seconds)
  })
})
