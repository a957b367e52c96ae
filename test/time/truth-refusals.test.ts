/** What is refused, under which code and with the finger on which characters; the wording of messages is not held here. */
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron.ts'
import { type ErrorCode, EverytickError } from '../../src/errors.ts'

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
  ['*/61 * * * *', 'CRON_STEP', '61'],
  ['0 5/25 * * *', 'CRON_STEP', '25'],
  ['0 0 1-31/32 * *', 'CRON_STEP', '32'],
  ['1,,2 * * * *', 'CRON_LIST', undefined],
  [',1 * * * *', 'CRON_LIST', undefined],
  ['1, * * * *', 'CRON_LIST', undefined],
  ['0 0 1 FOO *', 'CRON_NAME', 'FOO'],
  ['0 0 * * MON,XYZ', 'CRON_NAME', 'XYZ'],
  ['0 0 * * MONDAY', 'CRON_NAME', 'MONDAY'],
  ['@reboot', 'CRON_MACRO', '@reboot'],
  ['@fortnightly', 'CRON_MACRO', '@fortnightly'],
]

const WHOLE: readonly (readonly [expression: string, code: ErrorCode])[] = [
  ['', 'CRON_EMPTY'],
  [' \t ', 'CRON_EMPTY'],
  ['* * * *', 'CRON_FIELDS'],
  ['*', 'CRON_FIELDS'],
  ['* * * * * * *', 'CRON_FIELDS'],
  [`${'0,'.repeat(130)}0 * * * *`, 'CRON_LENGTH'],
  [`${Array.from({ length: 65 }, (_, n) => n % 10).join(',')} * * * *`, 'CRON_LIST'],
  ['0 0 30 2 *', 'CRON_NEVER'],
  ['0 0 31 2,4,6,9,11 *', 'CRON_NEVER'],
  ['0 0 31W 4 *', 'CRON_NEVER'],
  ['0 0 L-30 2,4 *', 'CRON_NEVER'],
]

const NOT_CRON = [
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
