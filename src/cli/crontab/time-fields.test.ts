import { describe, expect, it } from 'vitest'
import { readTime } from './time-fields.ts'

const place = { zone: 'Europe/Berlin', seed: 'default/backup' }

describe('the time of a line', () => {
  it.each([
    ['five fields', '30 2 * * 1-5', '30 2 * * 1-5'],
    ['names', '0 0 1 jan-mar,Dec MON', '0 0 1 jan-mar,Dec MON'],
    ['a macro', '@daily', '@daily'],
    ['a macro of FreeBSD', '@every_minute', '@every_minute'],
    ['another', '@every_second', '@every_second'],
    ['a step beyond the end of the hour', '*/90 * * * *', '0 * * * *'],
    ['a step that just reaches the end', '*/60 */24 * * *', '0 0 * * *'],
    ['a step beyond the end of a range', '5-20/100 * * * *', '5 * * * *'],
    ['both days, of which one is enough', '0 0 13 * 5', '0 0 13 * 5'],
    ['Sunday as 7', '0 0 * * 5-7', '0 0 * * 5-7'],
  ])('is carried over: %s', (_, time, cron) => {
    expect(readTime(time, place)).toEqual({ cron, timezone: 'Europe/Berlin' })
  })

  it('is an interval in UTC where fields can say it, and an interval where not', () => {
    expect(readTime('@every 15m', place)).toEqual({ cron: '*/15 * * * *', timezone: 'UTC' })
    expect(readTime('@every 1h30m', place)).toEqual({ every: '1h30m' })
  })

  it('chooses a random value once, within its bounds, the same for the same schedule', () => {
    for (const [time, min, max] of [
      ['~ 3 * * *', 0, 59],
      ['10~20 3 * * *', 10, 20],
      ['~9 3 * * *', 0, 9],
      ['50~ 3 * * *', 50, 59],
    ] as const) {
      const rule = readTime(time, place)
      expect(readTime(time, place)).toEqual(rule)
      const [minute, ...rest] = 'cron' in rule ? rule.cron.split(' ') : []
      expect(rest).toEqual(['3', '*', '*', '*'])
      expect(Number(minute)).toBeGreaterThanOrEqual(min)
      expect(Number(minute)).toBeLessThanOrEqual(max)
    }
    const seeds = Array.from({ length: 40 }, (_, i) =>
      JSON.stringify(readTime('~ 3 * * *', { ...place, seed: `${i}` })),
    )
    expect(new Set(seeds).size).toBeGreaterThan(10)
  })

  it('chooses where a random step begins', () => {
    const rule = readTime('~/20 * * * *', place)
    const minutes = 'cron' in rule ? rule.cron.split(' ')[0]!.split(',').map(Number) : []
    expect(minutes.map((each) => each - minutes[0]!)).toEqual([0, 20, 40])
  })

  it.each([
    ['@reboot', 'CRON_MACRO', /restart of a machine is not/],
    ['@Daily', 'CRON_MACRO', /lower case/],
    ['0 0 */31 * 1', 'CRON_STEP', /larger than 30/],
    ['@60', 'CRON_MACRO', /end of the previous run/],
    ['@fortnightly', 'CRON_MACRO', /not a macro/],
    ['@every soon', 'DURATION_INVALID', /not a duration/],
    ['5/15 * * * *', 'CRON_SYNTAX', /single value/],
    ['0 0 ? * 1', 'CRON_SYNTAX', /a different meaning in every cron/],
    ['0 22-2 * * *', 'CRON_REVERSED', /backwards/],
    ['61 * * * *', 'CRON_RANGE', /outside 0–59/],
    ['0 0 31 2 *', 'CRON_NEVER', /no fire/],
    ['20~10 * * * *', 'CRON_REVERSED', /backwards/],
    ['1~2~3 * * * *', 'CRON_SYNTAX', /cannot contain/],
    ['0 0 * * monday', 'CRON_NAME', /not a weekday name/],
    ['*/0 * * * *', 'CRON_STEP', /zero/],
  ])('is refused: %s', (time, code, message) => {
    expect(() => readTime(time, place)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    )
  })
})
