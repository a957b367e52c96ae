/** Calendars worked out by hand: which days an expression means, in UTC, where no clock ever changes. */
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron.ts'

const START_2026 = new Date(Date.UTC(2025, 11, 31, 23, 59, 59))
const END_2026 = new Date(Date.UTC(2026, 11, 31, 23, 59, 59))

/** The days of 2026 as `month-day`. */
const days2026 = (expression: string): string[] =>
  [...parseCron(expression).between(START_2026, END_2026)].map((at) => `${at.getUTCMonth() + 1}-${at.getUTCDate()}`)

const firesAfter = (expression: string, instant: string, count: number): string[] =>
  parseCron(expression)
    .nextMany(new Date(instant), count)
    .map((at) => at.toISOString().replace('.000Z', 'Z'))

// 2026: the 1st is a Thu, Sun, Sun, Wed, Fri, Mon, Wed, Sat, Tue, Thu, Sun, Tue.
const YEAR_2026: readonly (readonly [expression: string, meaning: string, days: string])[] = [
  ['0 0 L * *', 'the last day', '1-31 2-28 3-31 4-30 5-31 6-30 7-31 8-31 9-30 10-31 11-30 12-31'],
  ['0 0 L-3 * *', 'three days before the last', '1-28 2-25 3-28 4-27 5-28 6-27 7-28 8-28 9-27 10-28 11-27 12-28'],
  ['0 0 L-30 * *', 'a day only long months have', '1-1 3-1 5-1 7-1 8-1 10-1 12-1'],
  ['0 0 15W * *', 'the working day nearest the 15th', '1-15 2-16 3-16 4-15 5-15 6-15 7-15 8-14 9-15 10-15 11-16 12-15'],
  ['0 0 1W * *', 'never leaving the month backwards', '1-1 2-2 3-2 4-1 5-1 6-1 7-1 8-3 9-1 10-1 11-2 12-1'],
  ['0 0 31W * *', 'never leaving it forwards, short months skipped', '1-30 3-31 5-29 7-31 8-31 10-30 12-31'],
  ['0 0 30W * *', 'February skipped', '1-30 3-30 4-30 5-29 6-30 7-30 8-31 9-30 10-30 11-30 12-30'],
  ['0 0 LW * *', 'the last working day', '1-30 2-27 3-31 4-30 5-29 6-30 7-31 8-31 9-30 10-30 11-30 12-31'],
  [
    '0 0 L-3W * *',
    'the working day nearest three days before the last',
    '1-28 2-25 3-27 4-27 5-28 6-26 7-28 8-28 9-28 10-28 11-27 12-28',
  ],
  ['0 0 L-30W * *', 'nearest the first of a long month', '1-1 3-2 5-1 7-1 8-3 10-1 12-1'],
  ['0 0 L-0W * *', 'the last working day', '1-30 2-27 3-31 4-30 5-29 6-30 7-31 8-31 9-30 10-30 11-30 12-31'],
  ['0 0 * * FRI#L', 'the last Friday', '1-30 2-27 3-27 4-24 5-29 6-26 7-31 8-28 9-25 10-30 11-27 12-25'],
  ['0 0 * * 5#l', 'the last Friday', '1-30 2-27 3-27 4-24 5-29 6-26 7-31 8-28 9-25 10-30 11-27 12-25'],
  ['0 0 1 * +MON', 'a first that is a Monday', '6-1'],
  ['0 0 13 * +fri,SAT', 'a 13th that is a Friday or Saturday', '2-13 3-13 6-13 11-13'],
  ['0 0 * 2 +MON', 'every Monday, the day of month being free', '2-2 2-9 2-16 2-23'],
  ['0 0 0 1 1 * 2025-2027', 'the years listed', '1-1'],
  ['0 0 0 1 2 * 1970-2199/2', 'even years', '2-1'],
  ['0 0 0 1 2 * 1971/2', 'odd years', ''],
  ['0 0 0 1 3 * *', 'any year', '3-1'],
  ['0 0 * * 5L', 'the last Friday', '1-30 2-27 3-27 4-24 5-29 6-26 7-31 8-28 9-25 10-30 11-27 12-25'],
  ['0 0 * * 5#2', 'the second Friday', '1-9 2-13 3-13 4-10 5-8 6-12 7-10 8-14 9-11 10-9 11-13 12-11'],
  ['0 0 * * FRI#5', 'a fifth Friday where there is one', '1-30 5-29 7-31 10-30'],
  ['0 0 * * 0#1', 'the first Sunday', '1-4 2-1 3-1 4-5 5-3 6-7 7-5 8-2 9-6 10-4 11-1 12-6'],
  ['0 0 * * 7#1', 'Sunday as 7', '1-4 2-1 3-1 4-5 5-3 6-7 7-5 8-2 9-6 10-4 11-1 12-6'],
  ['0 0 * 2 1#1,5L', 'two specials in one list', '2-2 2-27'],
  ['0 0 1,L 2,4 *', 'a special beside a number', '2-1 2-28 4-1 4-30'],
  ['0 0 31 * *', 'months without the day are passed over', '1-31 3-31 5-31 7-31 8-31 10-31 12-31'],
  ['0 0 1 */5 *', 'stepped months count from January', '1-1 6-1 11-1'],
  ['0 0 1 3/4 *', 'from March to the end by four', '3-1 7-1 11-1'],
  ['0 0 1 jan,Apr-JUN,oct *', 'month names in any case', '1-1 4-1 5-1 6-1 10-1'],
  ['0 0 20/5 2 *', 'from the 20th to the end of the field', '2-20 2-25'],
  ['0 0 1-7/3,20 12 ?', 'a question mark is a star', '12-1 12-4 12-7 12-20'],
]

describe('days of the calendar', () => {
  it.each(YEAR_2026)('%s means %s', (expression, _meaning, days) => {
    expect(days2026(expression).join(' ')).toBe(days)
  })

  it('reaches for the working day nearest a first that is a Saturday without entering the month before', () => {
    expect(firesAfter('0 0 1W 8 *', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-08-03T00:00:00Z'])
  })

  it('finds leap days across a century year that has none', () => {
    expect(firesAfter('0 0 29 2 *', '2096-02-28T00:00:00Z', 2)).toEqual([
      '2096-02-29T00:00:00Z',
      '2104-02-29T00:00:00Z',
    ])
    expect(parseCron('0 0 29 2 *').prev(new Date('2104-02-29T00:00:00Z'))).toEqual(new Date('2096-02-29T00:00:00Z'))
    expect(firesAfter('0 0 L 2 *', '2023-12-01T00:00:00Z', 2)).toEqual(['2024-02-29T00:00:00Z', '2025-02-28T00:00:00Z'])
  })
})

describe('years', () => {
  const timing = parseCron('0 0 12 1 6 * 2020,2024-2026,2190')
  const iso = (date: Date | null): string | undefined => date?.toISOString().slice(0, 10)

  it('are met in both directions, and there is nothing beyond them', () => {
    expect(iso(timing.next(new Date('2026-06-01T12:00:00Z')))).toBe('2190-06-01')
    expect(timing.next(new Date('2190-06-01T12:00:00Z'))).toBeNull()
    expect(iso(timing.prev(new Date('2190-06-01T12:00:00Z')))).toBe('2026-06-01')
    expect(iso(timing.prev(new Date('2024-06-01T12:00:00Z')))).toBe('2020-06-01')
    expect(timing.prev(new Date('2020-06-01T12:00:00Z'))).toBeNull()
  })

  it('are counted without walking', () => {
    expect(timing.count(new Date(0), new Date('2200-01-01T00:00:00Z'))).toBe(5)
    expect(timing.count(new Date('2024-06-01T12:00:00Z'), new Date('2026-06-01T12:00:00Z'))).toBe(2)
    expect(parseCron('* * * * * * 2028').count(new Date(0), new Date(8e12))).toBe(366 * 86_400)
  })

  it('stand among the fields only where they were written', () => {
    expect(timing.fields.year).toEqual({ text: '2020,2024-2026,2190', values: [2020, 2024, 2025, 2026, 2190] })
    expect(parseCron('0 12 1 6 *').fields).not.toHaveProperty('year')
  })
})

describe('day of month and day of week together', () => {
  it('fires on either when both are restricted', () => {
    // February 2026: Fridays 6, 13, 20, 27; the 13th is one of them, the 15th a Sunday.
    expect(days2026('0 0 13,15 2 FRI').join(' ')).toBe('2-6 2-13 2-15 2-20 2-27')
    expect(days2026('0 0 1-31 2 MON').length).toBe(28)
    expect(days2026('0 0 L 2 1#1').join(' ')).toBe('2-2 2-28')
    expect(days2026('0 0 5,* 2 MON').length, 'a star that is not first does not make it an AND').toBe(28)
  })

  it('fires on both only when one of them starts with a star', () => {
    expect(days2026('0 0 */2 2 MON').join(' ')).toBe('2-9 2-23')
    expect(days2026('0 0 13,14 2 */2').join(' ')).toBe('2-14')
    expect(days2026('0 0 *,13 2 5').join(' ')).toBe('2-6 2-13 2-20 2-27')
    expect(days2026('0 0 */10 2 */3').join(' '), 'the 1st, 11th and 21st; Sunday, Wednesday and Saturday').toBe(
      '2-1 2-11 2-21',
    )
  })

  it('reads a question mark as a star in either field', () => {
    expect(days2026('0 0 ? 2 5').join(' ')).toBe('2-6 2-13 2-20 2-27')
    expect(days2026('0 0 13 2 ?').join(' ')).toBe('2-13')
    expect(days2026('0 0 ? 2 ?').length).toBe(28)
  })
})

describe('weekdays', () => {
  const FEBRUARY: readonly (readonly [string, string])[] = [
    ['0', '2-1 2-8 2-15 2-22'],
    ['7', '2-1 2-8 2-15 2-22'],
    ['sun', '2-1 2-8 2-15 2-22'],
    ['5-7', '2-1 2-6 2-7 2-8 2-13 2-14 2-15 2-20 2-21 2-22 2-27 2-28'],
    ['FRI-SUN', '2-1 2-6 2-7 2-8 2-13 2-14 2-15 2-20 2-21 2-22 2-27 2-28'],
    ['Sun-Mon', '2-1 2-2 2-8 2-9 2-15 2-16 2-22 2-23'],
    ['mon,WED', '2-2 2-4 2-9 2-11 2-16 2-18 2-23 2-25'],
    ['1-7/3', '2-1 2-2 2-5 2-8 2-9 2-12 2-15 2-16 2-19 2-22 2-23 2-26'],
    ['2/2', '2-3 2-5 2-7 2-10 2-12 2-14 2-17 2-19 2-21 2-24 2-26 2-28'],
  ]
  it.each(FEBRUARY)('%s names the right days of February 2026', (weekday, days) => {
    expect(days2026(`0 0 * 2 ${weekday}`).join(' ')).toBe(days)
  })
})

describe('times of day', () => {
  const TIMES: readonly (readonly [string, string, readonly string[]])[] = [
    ['5/15 0 * * *', '2026-03-01T00:00:00Z', ['00:05', '00:20', '00:35', '00:50'].map((t) => `2026-03-01T${t}:00Z`)],
    ['0 20/2 * * *', '2026-03-01T12:00:00Z', ['2026-03-01T20:00:00Z', '2026-03-01T22:00:00Z', '2026-03-02T20:00:00Z']],
    ['*/25 5 * * *', '2026-03-01T05:00:00Z', ['2026-03-01T05:25:00Z', '2026-03-01T05:50:00Z', '2026-03-02T05:00:00Z']],
    ['59 59 23 31 12 *', '2026-06-01T00:00:00Z', ['2026-12-31T23:59:59Z', '2027-12-31T23:59:59Z']],
    ['59 59 23 * * *', '2026-12-31T23:59:58.999Z', ['2026-12-31T23:59:59Z', '2027-01-01T23:59:59Z']],
    ['59 59 23 * * *', '2026-12-31T23:59:59Z', ['2027-01-01T23:59:59Z']],
    ['* * * * * *', '2026-12-31T23:59:59.001Z', ['2027-01-01T00:00:00Z', '2027-01-01T00:00:01Z']],
    [
      '10/20 * * * * *',
      '2026-03-01T00:00:11Z',
      ['2026-03-01T00:00:30Z', '2026-03-01T00:00:50Z', '2026-03-01T00:01:10Z'],
    ],
    ['@yearly', '2026-03-01T00:00:00Z', ['2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z']],
    ['@annually', '2026-03-01T00:00:00Z', ['2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z']],
    ['@monthly', '2026-03-01T00:00:00Z', ['2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z']],
    ['@weekly', '2026-03-01T00:00:00Z', ['2026-03-08T00:00:00Z', '2026-03-15T00:00:00Z']],
    ['@daily', '2026-12-30T00:00:00Z', ['2026-12-31T00:00:00Z', '2027-01-01T00:00:00Z']],
    ['@midnight', '2026-12-30T00:00:00Z', ['2026-12-31T00:00:00Z', '2027-01-01T00:00:00Z']],
    ['@every_minute', '2026-12-31T23:59:00Z', ['2027-01-01T00:00:00Z', '2027-01-01T00:01:00Z']],
    ['@every_second', '2026-12-31T23:59:59Z', ['2027-01-01T00:00:00Z', '2027-01-01T00:00:01Z']],
    ['0 0 0 29 2 * 2096,2196', '2026-01-01T00:00:00Z', ['2096-02-29T00:00:00Z', '2196-02-29T00:00:00Z']],
    ['0 0 0 1 1 * */100', '2026-01-01T00:00:00Z', ['2070-01-01T00:00:00Z', '2170-01-01T00:00:00Z']],
    ['59 59 23 31 12 * 2026-2027', '2026-12-01T00:00:00Z', ['2026-12-31T23:59:59Z', '2027-12-31T23:59:59Z']],
    ['@hourly', '2026-12-31T22:30:00Z', ['2026-12-31T23:00:00Z', '2027-01-01T00:00:00Z']],
  ]
  it.each(TIMES)('%s after %s', (expression, instant, expected) => {
    expect(firesAfter(expression, instant, expected.length)).toEqual(expected)
  })
})
