import { describe, expect, it } from 'vitest'
import { type CronOptions, parseCron } from './cron.ts'

const FROM = new Date('2026-11-15T00:00:00Z')
const texts = (expression: string, options: CronOptions = {}): string[] =>
  parseCron(expression, options)
    .warnings(FROM)
    .map((warning) => `${warning.code}: ${warning.text}`)

describe('warnings', () => {
  it('tell how often an expression fires in a year and what the two clock changes do to it', () => {
    expect(texts('30 2 * * *', { timezone: 'Europe/Berlin' })).toEqual([
      'FIRES_PER_YEAR: 365 fires in 12 months',
      'DST_GAP: 2027-03-28  02:30 does not exist → 03:00+02:00 (dst.gap=shift)',
      'DST_FOLD: 2027-10-31  02:30 occurs twice → 02:30+02:00, first only (dst.fold=first)',
    ])
  })

  it('follow the dst options', () => {
    const dst = { gap: 'skip', fold: 'both' } as const
    expect(texts('30 2 * * *', { timezone: 'Europe/Berlin', dst })).toEqual([
      'FIRES_PER_YEAR: 365 fires in 12 months',
      'DST_GAP: 2027-03-28  02:30 does not exist → skipped (dst.gap=skip)',
      'DST_FOLD: 2027-10-31  02:30 occurs twice → both passes run (dst.fold=both)',
    ])
  })

  it('say that an elapsed-like expression follows real time', () => {
    expect(texts('*/30 * * * *', { timezone: 'Europe/Berlin' })).toEqual([
      'FIRES_PER_YEAR: 17520 fires in 12 months',
      'DST_GAP: 2027-03-28  2 times from 02:00 on do not exist → nothing is added, the clock jumps over them',
      'DST_FOLD: 2027-10-31  2 times from 02:00 on occur twice → both passes run, as time really passes',
    ])
  })

  it('say that starred minutes of a named hour lose no day and run in both passes', () => {
    expect(texts('*/30 2 * * *', { timezone: 'Europe/Berlin' })).toEqual([
      'FIRES_PER_YEAR: 731 fires in 12 months',
      'DST_GAP: 2027-03-28  2 times from 02:00 on do not exist → once at 03:00+02:00 (dst.gap=shift)',
      'DST_FOLD: 2027-10-31  2 times from 02:00 on occur twice → both passes run, as time really passes',
    ])
    const dst = { gap: 'skip', fold: 'first' } as const
    expect(texts('*/30 2 * * *', { timezone: 'Europe/Berlin', dst }).slice(1)).toEqual([
      'DST_GAP: 2027-03-28  2 times from 02:00 on do not exist → skipped (dst.gap=skip)',
      'DST_FOLD: 2027-10-31  2 times from 02:00 on occur twice → 02:00+02:00, first only (dst.fold=first)',
    ])
  })

  it('say when an expression ends, and when it never fires', () => {
    expect(texts('0 0 9 1 6 * 2027')).toEqual([
      'FIRES_PER_YEAR: 1 fire in 12 months',
      'ENDS: the last fire is at 2027-06-01T09:00:00.000Z; after that, schedules reject the expression',
    ])
    expect(texts('0 0 30 2 *')).toEqual([
      'FIRES_PER_YEAR: 0 fires in 12 months',
      'NEVER: no fire in the next 8 years: schedules reject this expression',
    ])
    expect(texts('0 0 0 1 1 * 2020')[1]).toMatch(/^NEVER/)
  })

  it('explain how day of month and weekday are joined', () => {
    expect(texts('0 0 13 * 5')[1]).toMatch(/^DAY_OR_WEEKDAY: .*a day that matches either fires/)
    expect(texts('0 0 */2 * 1')[1]).toMatch(/^DAY_OR_WEEKDAY: .*a day must match both/)
    expect(texts('0 0 1 * +MON')[1]).toMatch(/^DAY_OR_WEEKDAY: .*starts with \+, so a day must match both/)
    expect(texts('0 0 * * 1')).toHaveLength(1)
    expect(texts('0 0 * * +1')).toHaveLength(1)
  })

  it('say when H was spread without a seed', () => {
    expect(texts('H H * * *')[1]).toMatch(/^HASH_UNSEEDED/)
    expect(texts('H H * * *', { seed: 'default/nightly' })).toHaveLength(1)
  })
})
