/** Very many hostile strings (`FUZZ_STRINGS=1000000` for a long run) and a handful of hostile values: always an answer or a coded error, never a crash or a hang. */
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron.ts'
import { ERROR_CODES, EverytickError } from '../../src/errors.ts'
import { announce, randomFrom, SEED } from './seed.ts'

const STRINGS = Number(process.env.FUZZ_STRINGS ?? 200_000)
const ALPHABET = '0123456789*,/-?LWH#@()+ \t'
const WORDS =
  '* */5 0 1-5 22-2 L LW L-3 15W 31W 5L 5#2 FRI#5 H H/15 H(0-29) ? 7 SUN fri-sun JAN-MAR dec 5/15 0-59/7 59 31 30 29 2 ,, 1,2,3 */0 @daily @every 5m # / - L-3W FRI#L +MON 2027 1970-2199/2 @reboot'.split(
    ' ',
  )
const VALID = [
  '*/5 * * * *',
  '30 9 * * 1-5',
  '0 0 29 2 *',
  '0 0 L-3,15W,LW * *',
  '0 0 * * MON#1,5L',
  '15 10,22 1-7/2 jan,Mar-SEP ?',
  'H H(0-7) * * H',
  '10/20 5-50/3 23 */2 * 0,7',
  '@every 90s',
  '@monthly',
  '0 0 */2 2 FRI-SUN',
  '59 59 23 31 12 *',
  '0 30 2 L-3W * +FRI#L 2026-2030,2100/7',
]
const ZONES = ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Monrovia', 'Asia/Beirut']
const ASKED = [Date.UTC(2026, 2, 8, 6, 59, 30), Date.UTC(1972, 0, 7), Date.UTC(2011, 11, 29, 23), Date.UTC(2099, 1, 28)]

const random = randomFrom(SEED)
const below = (limit: number): number => Math.floor(random() * limit)
const pick = <T>(from: ArrayLike<T>): T => from[below(from.length)]!

function scribble(): string {
  let text = ''
  for (let left = below(36); left > 0; left -= 1) text += pick(ALPHABET)
  return text
}

const sentence = (): string => Array.from({ length: below(8) }, () => pick(WORDS)).join(random() < 0.95 ? ' ' : ',')

function mutated(): string {
  let text = pick(VALID)
  for (let left = 1 + below(3); left > 0; left -= 1) {
    const spot = below(text.length + 1)
    const kind = below(4)
    if (kind === 0) text = text.slice(0, spot) + text.slice(spot + 1 + below(3))
    else if (kind === 1) text = text.slice(0, spot) + pick(ALPHABET) + text.slice(spot)
    else if (kind === 2) text = text.slice(0, spot) + pick(ALPHABET) + text.slice(spot + 1)
    else text = text.slice(0, spot) + text.slice(below(spot + 1))
  }
  return text
}

function foreign(): string {
  let text = ''
  for (let left = below(24); left > 0; left -= 1) text += String.fromCharCode(below(0x10000))
  return random() < 0.5 ? text : `${pick(VALID)}${text}`
}

const huge = (): string =>
  pick(['*', '1,', '*/', '1-', ' ', '0 ', 'L', 'H(', '\u{1f4a3}', '9']).repeat(200 + below(50_000))

function anyText(): string {
  const kind = random()
  if (kind < 0.3) return scribble()
  if (kind < 0.6) return sentence()
  if (kind < 0.93) return mutated()
  return kind < 0.999 ? foreign() : huge()
}

/** How this text was handled: answered, refused by the rules, or (anything else) wrongly. */
function handling(text: string, turn: number): string {
  const after = ASKED[turn % ASKED.length]!
  try {
    const next = parseCron(text, { timezone: ZONES[turn % ZONES.length]! }).next(new Date(after))
    return next === null || (next instanceof Date && next.getTime() > after) ? 'answered' : `gave ${String(next)}`
  } catch (error) {
    if (!(error instanceof EverytickError)) return `threw ${String(error)}`
    if (!Object.hasOwn(ERROR_CODES, error.code)) return `unknown code ${error.code}`
    if (error.message === '') return 'no message'
    const [start, end] = error.span ?? [0, 0]
    return start >= 0 && start <= end && end <= text.length ? 'refused' : `span ${start}-${end} outside the text`
  }
}

/** The code of the error that `attempt` ends in; anything else is a failure of the promise. */
function codeOf(attempt: () => unknown): string {
  try {
    attempt()
  } catch (error) {
    if (error instanceof EverytickError && Object.hasOwn(ERROR_CODES, error.code)) return error.code
    throw error
  }
  return 'accepted'
}

describe('hostile input', () => {
  it(`answers ${STRINGS.toLocaleString('en')} random strings or refuses them with a code`, () => {
    announce('fuzz')
    const wrong: string[] = []
    let answered = 0
    for (let turn = 0; turn < STRINGS && wrong.length < 10; turn += 1) {
      const text = anyText()
      const how = handling(text, turn)
      if (how === 'answered') answered += 1
      else if (how !== 'refused') wrong.push(`${JSON.stringify(text.slice(0, 300))}: ${how}`)
    }
    expect(wrong).toEqual([])
    // The mixture is worth nothing if nothing in it is cron.
    expect(answered).toBeGreaterThan(STRINGS / 50)
  })

  const VALUES: readonly unknown[] = [
    undefined,
    null,
    0,
    5,
    Number.NaN,
    true,
    12n,
    Symbol('cron'),
    {},
    [],
    ['* * * * *'],
    () => '* * * * *',
    new Date(0),
    { toString: () => '* * * * *' },
    Object.create(null),
  ]
  it('refuses everything that is not a string with a code', () => {
    for (const value of VALUES) expect(codeOf(() => parseCron(value as string))).toMatch(/^CRON_|^OPTION_/)
  })

  it('refuses a zone, seed or rule of the wrong kind with a code', () => {
    for (const value of VALUES.slice(1)) {
      const options = [
        { timezone: value },
        { dst: value },
        { dst: { gap: value } },
        { dst: { fold: value } },
        { seed: value },
      ]
      for (const option of options) {
        if (typeof value === 'object' && value !== null && 'dst' in option && option.dst === value) continue
        expect(
          codeOf(() => parseCron('H * * * *', option as object)),
          `${Object.keys(option)}`,
        ).toMatch(/^OPTION_|^TIMEZONE_/)
      }
      if (value !== null && typeof value === 'object') continue
      expect(codeOf(() => parseCron('* * * * *', value as object))).toMatch(/^OPTION_/)
    }
    expect(codeOf(() => parseCron('* * * * *', { timeZone: 'UTC' } as object))).toBe('OPTION_UNKNOWN')
    expect(codeOf(() => parseCron('* * * * *', { dst: { overlap: 'first' } } as object))).toBe('OPTION_UNKNOWN')
  })

  it('does not take one question for another that was answered before', () => {
    parseCron('0 0 * *\n*')
    expect(codeOf(() => parseCron('0 0 * *', { timezone: '*\nUTC' }))).toMatch(/^CRON_FIELDS$|^TIMEZONE_/)
    const [first, second] = (['first', 'second'] as const).map((fold) =>
      parseCron('30 1 * * *', { dst: { fold }, timezone: ZONES[1]! }),
    )
    expect(first?.next(new Date('2026-11-01T04:00:00Z'))).toEqual(new Date('2026-11-01T05:30:00Z'))
    expect(second?.next(new Date('2026-11-01T04:00:00Z'))).toEqual(new Date('2026-11-01T06:30:00Z'))
  })

  it('refuses instants that are none', () => {
    const timing = parseCron('30 2 * * *', { timezone: 'America/New_York' })
    const none = [new Date(Number.NaN), undefined, null, 0, '2026-01-01', {}, Symbol('now')] as Date[]
    for (const date of none) {
      const attempts: (() => unknown)[] = [
        () => timing.next(date),
        () => timing.prev(date),
        () => timing.nextMany(date, 2),
        () => [...timing.between(date, new Date(0))],
        () => [...timing.between(new Date(0), date)],
        () => timing.count(date, new Date(0)),
        () => timing.count(new Date(0), date),
        () => timing.matches(date),
      ]
      for (const attempt of attempts) expect(codeOf(attempt), String(attempt)).toBe('INSTANT_INVALID')
    }
    expect(codeOf(() => timing.warnings(new Date(Number.NaN)))).toBe('INSTANT_INVALID')
  })

  it('refuses a count that is none instead of running for ever', () => {
    const timing = parseCron('* * * * *')
    for (const count of [Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, '3', null] as number[]) {
      expect(
        codeOf(() => timing.nextMany(new Date(0), count)),
        String(count),
      ).toMatch(/^OPTION_/)
    }
    expect(timing.nextMany(new Date(0), 0)).toEqual([])
  })

  it('answers with a real date or null at both ends of time', () => {
    for (const timezone of ZONES) {
      for (const expression of ['* * * * *', '30 2 * * *', '0 0 29 2 *', '0 0 L-3 * *', '* * * * * *']) {
        const timing = parseCron(expression, { timezone })
        for (const end of [8.64e15, -8.64e15, 8.64e15 - 1, 1 - 8.64e15, 0, 4e12, -4e12]) {
          for (const found of [timing.next(new Date(end)), timing.prev(new Date(end))]) {
            if (found !== null) expect(Number.isNaN(found.getTime()), `${expression} ${timezone} ${end}`).toBe(false)
          }
          timing.matches(new Date(end))
        }
      }
    }
  })
})
