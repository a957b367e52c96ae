/** Compares the engine with two other libraries where those are known to be right, and holds the list of where they are not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron.ts'
import { timeZone } from '../../src/schedule/time-zone.ts'
import { CRON_PARSER_DIFFERENCES, CRONER_DIFFERENCES } from './differences.ts'
import {
  croner,
  cronerExpression,
  cronParser,
  type Direction,
  nightExpression,
  type Oracle,
  type Question,
  sharedExpression,
} from './oracles.ts'
import { announce, namedSeed } from './seed.ts'

const DAY = 86_400_000
const FROM = Date.UTC(2024, 0, 1)
const TO = Date.UTC(2034, 0, 1)
// The oracles are not ours to repair: without a named seed every run asks them the same questions.
const SEED = namedSeed ?? 20_261_115
announce('differential', SEED)

/** Both libraries ask the runtime for offsets, whose zone data may be older than ours: only zones with equal data compare. */
function runtimeAgrees(zone: string): boolean {
  const { at, offset } = timeZone(zone)
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const runtimeOffset = (instant: number): number => {
    const text = clock.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? ''
    const [, sign, hours, minutes] = /GMT([+-])(\d+):(\d+)/.exec(text) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
  }
  const ours = (instant: number): number => offset[at.findLastIndex((change) => change <= instant)]!
  const probes = [...at].filter((change) => change > FROM && change < TO).flatMap((change) => [change - 1000, change])
  for (let probe = FROM; probe < TO; probe += 30 * DAY) probes.push(probe)
  return probes.every((probe) => runtimeOffset(probe) === ours(probe))
}

const ZONES = [
  'UTC',
  'America/New_York',
  'America/St_Johns',
  'America/Santiago',
  'America/Sao_Paulo',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Dublin',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Tehran',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Tokyo',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Antarctica/Troll',
].filter(runtimeAgrees)

const changesOf = (zone: string): number[] => [...timeZone(zone).at].filter((change) => change > FROM && change < TO)
const anyInstant = fc.integer({ min: FROM / 1000, max: TO / 1000 }).map((seconds) => seconds * 1000)
const direction = fc.constantFrom<Direction>('next', 'prev')

/** croner loses days right after February when days of the month are named: a listed difference. */
const passesFebruary = (from: number, to: number): boolean => {
  const local = (instant: number) => new Date(instant).getUTCFullYear() * 12 + new Date(instant).getUTCMonth()
  for (let month = local(from - DAY); month <= local(to + DAY); month += 1) if (month % 12 === 1) return true
  return false
}

function ours({ cron, zone, asked, direction: way }: Question, count: number): Date[] {
  const timing = parseCron(cron, { timezone: zone })
  const found: Date[] = []
  for (let at: Date | null = new Date(asked); found.length < count && (at = timing[way](at)); ) found.push(at)
  return found
}

/** Their answer, or nothing where cron-parser gives up searching: a listed difference too. */
function theirs(oracle: Oracle, question: Question): (Date | undefined)[] | undefined {
  try {
    return oracle(question, 2)
  } catch (error) {
    if (/loop limit exceeded/.test(String(error))) return undefined
    throw error
  }
}

function awayFromChanges(oracle: Oracle, expression: fc.Arbitrary<string>, runs: number): number {
  let compared = 0
  fc.assert(
    fc.property(expression, fc.constantFrom(...ZONES), anyInstant, direction, (cron, zone, asked, way) => {
      const question = { cron, zone, asked: new Date(asked).toISOString(), direction: way }
      const answers = ours(question, 2)
      const last = answers.at(-1)?.getTime()
      if (last === undefined || answers.length < 2) return
      const [from, to] = asked < last ? [asked, last] : [last, asked]
      if (changesOf(zone).some((change) => change > from - 2 * DAY && change < to + 2 * DAY)) return
      if (oracle === croner && passesFebruary(from, to)) return
      const other = theirs(oracle, question)
      if (!other) return
      compared += 1
      expect(other).toEqual(answers)
    }),
    { seed: SEED, numRuns: runs },
  )
  return compared
}

describe('other libraries where they are right', () => {
  it('finds enough zones on which this runtime is up to date', () => {
    expect(ZONES.length).toBeGreaterThanOrEqual(12)
  })

  it('agrees with croner away from clock changes', () => {
    expect(awayFromChanges(croner, cronerExpression, 3000)).toBeGreaterThan(500)
  })

  it('agrees with cron-parser away from clock changes', () => {
    expect(awayFromChanges(cronParser, sharedExpression, 2500)).toBeGreaterThan(500)
  })

  it('agrees with croner on the nights of clock changes, for single times and wildcards', () => {
    const night = fc
      .constantFrom(...ZONES.filter((zone) => changesOf(zone).length > 0))
      .chain((zone) =>
        fc.tuple(fc.constant(zone), fc.constantFrom(...changesOf(zone)), fc.integer({ min: -30, max: 8 })),
      )
    fc.assert(
      fc.property(nightExpression, night, direction, (cron, [zone, change, hours], way) => {
        const asked = new Date(change + (way === 'next' ? hours : -hours) * 3_600_000).toISOString()
        const question = { cron, zone, asked, direction: way }
        expect(croner(question, 4)).toEqual(ours(question, 4))
      }),
      { seed: SEED, numRuns: 1500 },
    )
  })
})

const shown = (dates: readonly (Date | undefined)[]): string[] =>
  dates.map((date) => date?.toISOString().replace(/(:00)?\.000Z$/, '') ?? 'none')

describe.each([
  ['croner 11.0.0', croner, CRONER_DIFFERENCES],
  ['cron-parser 5.10.4', cronParser, CRON_PARSER_DIFFERENCES],
] as const)('where %s is known to differ', (_library, oracle, differences) => {
  it.each(differences)('$name', (difference) => {
    expect(shown(ours(difference, difference.right.length))).toEqual(difference.right)
    if (difference.wrong instanceof RegExp) {
      const { wrong } = difference
      expect(() => oracle(difference, difference.right.length)).toThrow(wrong)
    } else {
      expect(shown(oracle(difference, difference.wrong.length))).toEqual(difference.wrong)
      expect(difference.wrong).not.toEqual(difference.right)
    }
  })
})

describe('what cron-parser takes and we refuse', () => {
  it('three fields, which it fills up with guesses', () => {
    expect(() => cronParser({ cron: '* * *', zone: 'UTC', asked: '2026-03-01', direction: 'next' }, 1)).not.toThrow()
    expect(() => parseCron('* * *')).toThrow(expect.objectContaining({ code: 'CRON_FIELDS' }))
  })
})
