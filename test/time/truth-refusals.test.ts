/** What is refused, under which code and with the finger on which characters; the wording of messages is not held here. */
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron.ts'
import { type ErrorCode, EverytickError } from '../../src/errors.ts'
import { refuseNever } from '../../src/schedule/never.ts'

const NOW = new Date('2026-11-18T00:00:00Z')

function refusal(expression: string): EverytickError {
  try {
    parseCron(expression)
  } catch (error) {
    if (error instanceof EverytickError) return error
    throw error
  }
  throw new Error(`accepted: ${expression}`)
}

/** expression, code, and the text under the caret (undefined: no single spot is at fault). */
type Row = readonly [expression: string, code: ErrorCode, culprit: string | undefined]

const SPOTTED: readonly Row[] = [
  ['0 25 * * *', 'CRON_RANGE', '25'],
  ['60 * * * *', 'CRON_RANGE', '60'],
  ['60 * * * * *', 'CRON_RANGE', '60'],
  ['0 0 0 * *', 'CRON_RANGE', '0'],
  ['0 0 32 * *', 'CRON_RANGE', '32'],
  ['0 0 1 0 *', 'CRON_RANGE', '0'],
  ['0 0 1 13 *', 'CRON_RANGE', '13'],
  ['0 0 * * 8', 'CRON_RANGE', '8'],
  ['0 0 * * 1-8', 'CRON_RANGE', '8'],
  ['0 0 1,2,99 * *', 'CRON_RANGE', '99'],
  ['0 0 32W * *', 'CRON_RANGE', '32'],
  ['0 0 0W * *', 'CRON_RANGE', '0'],
  ['0 0 L-31 * *', 'CRON_RANGE', '31'],
  ['0 0 * * 5#6', 'CRON_RANGE', '6'],
  ['0 0 * * 5#0', 'CRON_RANGE', '0'],
  ['0 0 * * 8L', 'CRON_RANGE', '8'],
  ['0 99999999999999999999 * * *', 'CRON_RANGE', '99999999999999999999'],
  ['0 22-2 * * *', 'CRON_REVERSED', '22-2'],
  ['0 0 * 11-2 *', 'CRON_REVERSED', '11-2'],
  ['0 0 * NOV-FEB *', 'CRON_REVERSED', 'NOV-FEB'],
  ['0 0 * * FRI-MON', 'CRON_REVERSED', 'FRI-MON'],
  ['50-10/5 * * * *', 'CRON_REVERSED', '50-10'],
  ['*/0 * * * *', 'CRON_STEP', '0'],
  ['*/60 * * * *', 'CRON_STEP', '60'],
  ['1/60 * * * *', 'CRON_STEP', '60'],
  ['5-50/60 * * * *', 'CRON_STEP', '60'],
  ['H/60 * * * *', 'CRON_STEP', '60'],
  ['*/60 * * * * *', 'CRON_STEP', '60'],
  ['0 */24 * * *', 'CRON_STEP', '24'],
  ['0 0 */31 * *', 'CRON_STEP', '31'],
  ['0 0 1 */12 *', 'CRON_STEP', '12'],
  ['0 0 * * */7', 'CRON_STEP', '7'],
  ['0 0 0 1 1 * */230', 'CRON_STEP', '230'],
  ['0 0 0 1 1 * 1969', 'CRON_RANGE', '1969'],
  ['0 0 0 1 1 * 2200', 'CRON_RANGE', '2200'],
  ['0 0 0 1 1 * 2030-2026', 'CRON_REVERSED', '2030-2026'],
  ['0 0 1 1 * 2027', 'CRON_FIELDS', '2027'],
  ['0 0 L-31W * *', 'CRON_RANGE', '31'],
  ['0 0 * * 5#9', 'CRON_RANGE', '9'],
  ['0 5/25 * * *', 'CRON_STEP', '25'],
  ['0 0 1-31/32 * *', 'CRON_STEP', '32'],
  ['1,,2 * * * *', 'CRON_LIST', undefined],
  [',1 * * * *', 'CRON_LIST', undefined],
  ['1, * * * *', 'CRON_LIST', undefined],
  ['0 0 1 FOO *', 'CRON_NAME', 'FOO'],
  ['0 0 * * MON,XYZ', 'CRON_NAME', 'XYZ'],
  ['0 0 * * MONDAY', 'CRON_NAME', 'MONDAY'],
  ['@Daily', 'CRON_MACRO', '@Daily'],
  ['@DAILY', 'CRON_MACRO', '@DAILY'],
  ['@Every 5m', 'CRON_MACRO', '@Every'],
  ['@Reboot', 'CRON_MACRO', '@Reboot'],
  ['@daily 0 0 * * *', 'CRON_FIELDS', '0 0 * * *'],
  ['@reboot now', 'CRON_FIELDS', 'now'],
  ['@fortnightly', 'CRON_MACRO', '@fortnightly'],
]

const WHOLE: readonly (readonly [expression: string, code: ErrorCode])[] = [
  ['', 'CRON_EMPTY'],
  [' \t ', 'CRON_EMPTY'],
  ['* * * *', 'CRON_FIELDS'],
  ['*', 'CRON_FIELDS'],
  ['* * * * * * * *', 'CRON_FIELDS'],
  [`${'0,'.repeat(130)}0 * * * *`, 'CRON_LENGTH'],
  [`${Array.from({ length: 65 }, (_, n) => n % 10).join(',')} * * * *`, 'CRON_LIST'],
]

const NEVER = [
  '0 0 30 2 *',
  '0 0 31 2,4,6,9,11 *',
  '0 0 31W 4 *',
  '0 0 L-30 2,4 *',
  '0 0 L-30W 2,4 *',
  '0 0 * 2 MON#5',
  '0 0 1-7 2 +MON#5',
  '0 0 0 1 1 * 2020',
  '0 0 0 29 2 * 2027,2030',
  '0 0 0 1 1 * 2100-2199',
]

const NOT_CRON = [
  'L-3W * * * *',
  '0 0 L-W * *',
  '0 0 1-15W * *',
  '0 0 LW-3 * *',
  '0 0 * * L',
  '0 0 * * FRI#',
  '0 0 * * FRI#LL',
  '0 0 * * +',
  '0 0 * * +?',
  '0 0 * * ++MON',
  '0 0 * * MON,+FRI',
  '0 12 +1 * MON',
  '0 0 0 1 1 * H',
  '0 0 0 1 1 * ?',
  '0 0 0 1 1 * L',
  'L * * * *',
  '? * * * *',
  '0 ? * * *',
  '0 0 W * *',
  '0 0 WL * *',
  '0 0 5#2 * *',
  '0 0 * * 15W',
  '0 0 * ? *',
  '* * * * * /5',
  '1-2-3 * * * *',
  '*/5/2 * * * *',
  '*-5 * * * *',
  '-5 * * * *',
  '5- * * * *',
  '*/ * * * *',
  '1.5 * * * *',
  '+5 * * * *',
  '0x5 * * * *',
  '** * * * *',
  '0 0 * * 5##2',
  '0 0 * * #2',
  'H( * * * *',
  'H(5 * * * *',
  'H() * * * *',
  '١ * * * *',
  '５ * * * *',
  '0 0 * * *;',
]

describe('refusals', () => {
  it.each(SPOTTED)('points at the culprit in "%s" with %s', (expression, code, culprit) => {
    const error = refusal(expression)
    expect(error.code).toBe(code)
    expect(error.span, 'a span').toBeDefined()
    const [start, end] = error.span!
    expect(start).toBeGreaterThanOrEqual(0)
    expect(end).toBeLessThanOrEqual(expression.length)
    if (culprit !== undefined) expect(expression.slice(start, end)).toBe(culprit)
  })

  it.each(WHOLE)('refuses "%.20s" with %s', (expression, code) => {
    expect(refusal(expression).code).toBe(code)
  })

  it.each(NEVER)('reads "%s", which no schedule may have', (expression) => {
    const timing = parseCron(expression)
    expect(timing.warnings(NOW).map(({ code }) => code)).toContain('NEVER')
    expect(() => refuseNever(timing, NOW.getTime())).toThrow(
      expect.objectContaining({ code: 'CRON_NEVER', hint: expect.anything() }),
    )
  })

  it('reads a 30 February and finds none, however it is asked', () => {
    const timing = parseCron('0 0 30 2 *', { timezone: 'Europe/Berlin' })
    expect([timing.next(NOW), timing.prev(NOW), timing.nextMany(NOW, 3)]).toEqual([null, null, []])
    expect([timing.count(new Date(0), NOW), timing.matches(NOW)]).toEqual([0, false])
    expect([...timing.between(new Date(0), NOW)]).toEqual([])
    expect(timing.describe()).toBe('On day 30 in February at 00:00 Europe/Berlin.')
  })

  it('reads @reboot, which has no occurrence and which no schedule may have', () => {
    const timing = parseCron('@reboot')
    expect([timing.next(NOW), timing.prev(NOW), timing.count(new Date(0), NOW)]).toEqual([null, null, 0])
    expect(timing.describe()).toMatch(/^When a machine starts/)
    expect(timing.warnings(NOW)).toEqual([expect.objectContaining({ code: 'NEVER' })])
    expect(() => refuseNever(timing, NOW.getTime())).toThrow(
      expect.objectContaining({ code: 'CRON_MACRO', message: expect.stringMatching(/restart of a machine is not/) }),
    )
  })

  it.each([
    ['@Daily', 'did you mean @daily?'],
    ['@Every 5m', 'did you mean @every 5m?'],
    ['@dayly', 'did you mean @daily?'],
    ['*/60 * * * *', 'did you mean 0 * * * *? Or list the values'],
    ['1/60 * * * *', 'did you mean 1 * * * *? Or list the values'],
    ['3,10-50/60 * * * *', 'did you mean 3,10 * * * *? Or list the values'],
    ['0 */24 * * *', 'did you mean 0 0 * * *? Or list the values'],
    ['H/90 * * * *', 'did you mean H * * * *? Or list the values'],
    ['0 0 1 * +*/7', 'did you mean 0 0 1 * +0? Or list the values'],
    ['0 0 0 1 1 * 2030-2026', 'did you mean 0 0 0 1 1 * 2026-2030?'],
    ['0 0 1 1 * 2027', 'did you mean 0 0 0 1 1 * 2027?'],
  ])('proposes a repair of "%s"', (expression, hint) => {
    expect(refusal(expression).hint).toBe(hint)
  })

  it.each(NOT_CRON)('finds no cron in "%s"', (expression) => {
    expect(refusal(expression).code).toMatch(/^CRON_(SYNTAX|NAME|FIELDS|LIST|RANGE|STEP)$/)
  })

  it('proposes the repair of a range that runs over midnight', () => {
    expect(refusal('0 22-2 * * *').hint).toContain('22-23,0-2')
  })

  it('accepts 64 list items and 256 characters', () => {
    const items = Array.from({ length: 64 }, (_, n) => n % 10).join(',')
    expect(parseCron(`${items} * * * *`).next(new Date(0))).not.toBeNull()
    const padded = `0${' '.repeat(248)}0 * * *`
    expect(padded.length).toBe(256)
    expect(parseCron(padded).next(new Date(1))).toEqual(new Date(24 * 3_600_000))
    expect(refusal(`${padded} `).code).toBe('CRON_LENGTH')
  })

  it.each(['EST', 'CST', 'IST', 'Mars/Olympus', '', 'america', '+02:00'])('knows no zone "%s"', (timezone) => {
    expect(() => parseCron('* * * * *', { timezone })).toThrow(expect.objectContaining({ code: 'TIMEZONE_UNKNOWN' }))
  })
})
