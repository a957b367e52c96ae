import { describe, expect, it } from 'vitest'
import { parseCron } from '../../schedule/cron.ts'
import { type StoredTiming, sayTiming } from './cron-fields.ts'

const now = Date.parse('2026-11-16T00:00:00Z')
const say = (timing: StoredTiming) => sayTiming(timing, { now, seed: 'default/x' })

describe('when a schedule fires', () => {
  it.each([
    ['as it is written', '30 2 * * 1-5', '30 2 * * 1-5'],
    ['without seconds that are zero', '0 30 2 * * *', '30 2 * * *'],
    ['as a macro', '@daily', '@daily'],
    ['without a plus that demands nothing', '0 0 * * +MON', '0 0 * * 1'],
    ['without a year that is any', '0 30 2 * * * *', '30 2 * * *'],
    ['as every minute', '@every_minute', '* * * * *'],
    ['with an end for an open step', '5/15 * * * *', '5-59/15 * * * *'],
    ['without question marks', '0 0 ? * MON', '0 0 * * MON'],
    ['as an interval', '@every 5m', '*/5 * * * *'],
  ])('is said %s', (_, cron, time) => {
    expect(say({ cron, timezone: 'UTC' })).toEqual({ time, zone: 'UTC' })
  })

  it('is said with the values that H stands for', () => {
    const said = say({ cron: 'H H(0-7) * * *', timezone: 'Europe/Berlin' })
    const times = (text: string) => parseCron(text, { seed: 'default/x' }).nextMany(new Date(now), 3)
    expect('time' in said && times(said.time)).toEqual(times('H H(0-7) * * *'))
    expect(said).toMatchObject({ time: expect.stringMatching(/^\d+ \d \* \* \*$/), zone: 'Europe/Berlin' })
  })

  it.each([
    ['seconds', { cron: '*/10 * * * * *' }, /seconds/],
    ['the last day', { cron: '0 0 L * *' }, /L, W or #/],
    ['the second Friday', { cron: '0 0 * * 5#2' }, /L, W or #/],
    ['years', { cron: '0 0 0 1 * * 2027-2030' }, /years/],
    ['a day that must match both fields', { cron: '0 0 1 * +MON' }, /uses \+/],
    ['the last Friday', { cron: '0 0 * * FRI#L' }, /L, W or #/],
    ['a workday near the end', { cron: '0 0 L-3W * *' }, /L, W or #/],
    ['every second', { cron: '@every_second' }, /seconds/],
    ['a workday near the 15th', { cron: '0 0 15W * *' }, /L, W or #/],
    ['an interval that does not divide', { every: '7m' }, /7m does not fill/],
    ['a single instant', { at: '2027-01-01T00:00:00Z' }, /once/],
    ['several rules', { any: [] }, /several rules/],
    ['exclusions', { cron: '@daily', exclude: ['2026-12-25'] }, /exclusions/],
    ['an end', { cron: '@daily', endAt: '2027-01-01T00:00:00Z' }, /ends at/],
    ['a beginning to come', { cron: '@daily', startAt: '2027-01-01T00:00:00Z' }, /starts at/],
    ['a number of runs', { cron: '@daily', maxRuns: 3 }, /3 runs/],
  ])('cannot be said: %s', (_, timing, reason) => {
    expect(say(timing)).toEqual({ reason: expect.stringMatching(reason) })
  })

  it('is said when its beginning has passed', () => {
    expect(say({ every: '1h', startAt: '2026-01-01T00:00:00Z' })).toEqual({ time: '0 * * * *', zone: 'UTC' })
  })
})
