/** What must hold for every expression, zone and instant, on cases nobody chose; single known answers are in the truth tables. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CronOptions, parseCron } from '../../src/cron.ts'
import { EverytickError } from '../../src/errors.ts'
import { refuseNever } from '../../src/schedule/never.ts'
import { timeZone } from '../../src/schedule/time-zone.ts'
import type { Timing } from '../../src/schedule/timing.ts'
import {
  anyExpression,
  hashExpression,
  minuteExpression,
  rareExpression,
  secondExpression,
  yearExpression,
} from './arbitraries.ts'
import { dst, place } from './places.ts'
import { reference } from './reference.ts'
import { announce, SEED } from './seed.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
announce('invariants')

const seed = fc.constantFrom('default/nightly', 'default/digest', 't_42/sync', '')
type Case = [
  expression: string,
  place: { timezone: string; instant: number },
  dst: CronOptions['dst'] & object,
  seed: string,
]
const cases = (expression: fc.Arbitrary<string>): fc.Arbitrary<Case> => fc.tuple(expression, place, dst, seed)

const parsed = ([expression, { timezone }, rules, hashSeed]: Case): Timing =>
  parseCron(expression, { timezone, dst: rules, seed: hashSeed })

function holds(expression: fc.Arbitrary<string>, runs: number, promise: (timing: Timing, drawn: Case) => void): void {
  fc.assert(
    fc.property(cases(expression), (drawn) => promise(parsed(drawn), drawn)),
    { seed: SEED, numRuns: runs },
  )
}

/** The expression with every H field replaced by the numbers the engine says it settled on. */
function settled(timing: Timing, expression: string): string {
  const names = ['second', 'minute', 'hour', 'day', 'month', 'weekday'] as const
  const fields = expression.split(/\s+/)
  const shift = names.length - fields.length
  return fields
    .map((text, index) => (text.startsWith('H') ? timing.fields[names[index + shift]!]!.values.join(',') : text))
    .join(' ')
}

function isNever(timing: ReturnType<typeof parseCron>, from: number): boolean {
  try {
    refuseNever(timing, from)
    return false
  } catch (error) {
    if (error instanceof EverytickError && error.code === 'CRON_NEVER') return true
    throw error
  }
}

const at = (instant: number): Date => new Date(instant)
const times = (dates: Iterable<Date>): number[] => Array.from(dates, (date) => date.getTime())
const shown = (instants: readonly number[]): string[] => instants.map((instant) => new Date(instant).toISOString())

describe('against the slow reference', () => {
  it('gives the same occurrences within a day of clock changes, to the minute', () => {
    holds(minuteExpression, 7000, (timing, [expression, { timezone, instant }, rules]) => {
      const [from, to] = [instant - DAY, instant + DAY]
      const slow = reference(expression, timeZone(timezone), rules).within(from, to)
      expect(shown(times(timing.between(at(from - 1), at(to - 1))))).toEqual(shown(slow))
    })
  })

  it('gives the same occurrences within hours of clock changes, to the second', () => {
    holds(secondExpression, 500, (timing, [expression, { timezone, instant }, rules]) => {
      const [from, to] = [instant - 4 * HOUR, instant + 4 * HOUR]
      const slow = reference(expression, timeZone(timezone), rules).within(from, to)
      expect(times(timing.between(at(from - 1), at(to - 1)))).toEqual(slow)
    })
  })

  it('finds the same next and previous occurrence, however rare', () => {
    holds(minuteExpression, 1500, (timing, [expression, { timezone, instant }, rules]) => {
      const slow = reference(expression, timeZone(timezone), rules)
      const next = slow.next(instant)
      const prev = slow.prev(instant)
      // The reference gives up after nine years; the engine must then not know an earlier one.
      if (next !== null) expect(timing.next(at(instant))).toEqual(at(next))
      else
        expect(timing.next(at(instant))?.getTime() ?? Number.POSITIVE_INFINITY).toBeGreaterThan(instant + 9 * 365 * DAY)
      if (prev !== null) expect(timing.prev(at(instant))).toEqual(at(prev))
      else expect(timing.prev(at(instant))?.getTime() ?? Number.NEGATIVE_INFINITY).toBeLessThan(instant - 9 * 365 * DAY)
    })
  })

  it('keeps to the years it lists, around clock changes and far from them', () => {
    holds(yearExpression, 500, (timing, [expression, { timezone, instant }, rules]) => {
      const [from, to] = [instant - 4 * HOUR, instant + 4 * HOUR]
      const slow = reference(expression, timeZone(timezone), rules)
      expect(times(timing.between(at(from - 1), at(to - 1)))).toEqual(slow.within(from, to))
      expect(timing.count(at(from - 1), at(to - 1))).toBe(slow.within(from, to).length)
      const [next, prev] = [slow.next(instant, 3), slow.prev(instant, 3)]
      if (next !== null) expect(timing.next(at(instant))).toEqual(at(next))
      if (prev !== null) expect(timing.prev(at(instant))).toEqual(at(prev))
    })
  })

  it('refuses as never exactly what has no occurrence in the eight years after today, whenever today is', () => {
    fc.assert(
      fc.property(rareExpression, place, (expression, { instant }) => {
        const timing = parseCron(expression)
        const next = reference(expression, timeZone('UTC')).next(instant, 8)
        expect(isNever(timing, instant)).toBe(next === null)
        if (next !== null) expect(timing.next(at(instant))).toEqual(at(next))
      }),
      { seed: SEED, numRuns: 400 },
    )
  })
})

describe('against itself', () => {
  it('answers strictly after and strictly before, on whole seconds', () => {
    holds(anyExpression, 5000, (timing, [, { instant }]) => {
      const next = timing.next(at(instant))
      const prev = timing.prev(at(instant))
      if (next) expect(next.getTime()).toBeGreaterThan(instant)
      if (prev) expect(prev.getTime()).toBeLessThan(instant)
      for (const found of [next, prev]) {
        if (!found) continue
        expect(Math.abs(found.getTime() % 1000)).toBe(0)
        expect(timing.matches(found)).toBe(true)
        expect(timing.matches(at(found.getTime() + 1))).toBe(false)
      }
    })
  })

  it('leads to the same neighbours from anywhere between two occurrences', () => {
    holds(anyExpression, 4000, (timing, [, { instant }]) => {
      const first = timing.next(at(instant))
      const second = first && timing.next(first)
      if (!first || !second) return
      const [a, b] = [first.getTime(), second.getTime()]
      for (const part of [0, 0.001, 0.37, 0.5, 0.93]) {
        const between = Math.floor(a + (b - a) * part)
        expect(timing.next(at(between))).toEqual(second)
        expect(timing.prev(at(between + 1))).toEqual(first)
      }
      expect(timing.next(at(b - 1))).toEqual(second)
      expect(timing.prev(second)).toEqual(first)
      expect(timing.next(at(a - 1))).toEqual(first)
      // Nothing lies between the asked instant and its answer, seen from either side.
      expect(timing.prev(first)?.getTime() ?? Number.NEGATIVE_INFINITY).toBeLessThanOrEqual(instant)
    })
  })

  it('lists a range exactly as repeated asking does, and counts it without walking', () => {
    holds(anyExpression, 2500, (timing, [, { instant }]) => {
      const many = timing.nextMany(at(instant), 40)
      const asked: Date[] = []
      for (let from: Date | null = at(instant); asked.length < 40 && (from = timing.next(from)); ) asked.push(from)
      expect(many).toEqual(asked)
      const last = asked.at(-1)
      if (!last) return
      expect([...timing.between(at(instant), last)]).toEqual(asked)
      expect(timing.count(at(instant), last)).toBe(asked.length)
      expect(timing.count(at(instant), at(last.getTime() - 1))).toBe(asked.length - 1)
      const back: Date[] = []
      for (let to: Date | null = at(last.getTime() + 1); back.length < asked.length && (to = timing.prev(to)); ) {
        back.unshift(to)
      }
      expect(back).toEqual(asked)
    })
  })

  it('counts a long range as the sum of its parts', () => {
    holds(anyExpression, 1500, (timing, [, { instant }]) => {
      const [a, b, c] = [instant - 150 * DAY, instant + 7 * HOUR, instant + 250 * DAY]
      expect(timing.count(at(a), at(c))).toBe(timing.count(at(a), at(b)) + timing.count(at(b), at(c)))
      expect(timing.count(at(b), at(b))).toBe(0)
      expect(timing.count(at(c), at(a))).toBe(0)
      expect([...timing.between(at(c), at(a))]).toEqual([])
    })
  })

  it('matches exactly the instants it lists', () => {
    holds(minuteExpression, 1500, (timing, [, { instant }]) => {
      const from = Math.floor(instant / 60_000) * 60_000 - HOUR
      const listed = new Set(times(timing.between(at(from - 1), at(from + 2 * HOUR))))
      for (let minute = from; minute <= from + 2 * HOUR; minute += 60_000) {
        expect(timing.matches(at(minute))).toBe(listed.has(minute))
      }
    })
  })

  it('settles H by the seed alone, and then means the numbers it shows', () => {
    holds(hashExpression, 1000, (timing, drawn) => {
      const [, { timezone, instant }, rules] = drawn
      expect(parsed(drawn).nextMany(at(instant), 3)).toEqual(timing.nextMany(at(instant), 3))
      const [from, to] = [instant - HOUR, instant + HOUR]
      const slow = reference(settled(timing, drawn[0]), timeZone(timezone), rules).within(from, to)
      expect(times(timing.between(at(from - 1), at(to - 1)))).toEqual(slow)
    })
  })
})
