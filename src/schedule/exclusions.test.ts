/** Exclusions as one: a search over them finds what asking about every single instant finds, at a cost that does not grow with their number. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excludedAt } from './exclusion.ts'
import { exclusionsOf } from './exclusions.ts'
import type { Exclusion, TimingSpec } from './schedule.ts'
import { findingRuns, nextRunAt } from './search.ts'
import { SMALL_SEARCH, searchBudget } from './search-budget.ts'
import { slotsOf } from './slots.ts'

const at = (text: string): number => Date.parse(text)
const MINUTE = 60_000
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Africa/Casablanca']
/** Around clock changes of most of them. */
const STARTS = ['2027-03-27T20:00:00Z', '2027-10-30T20:00:00Z', '2027-04-03T12:00:00Z', '2027-01-01T00:00:00Z'].map(at)

const timezone = fc.constantFrom(...ZONES)
const list = (values: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant('*'),
    fc.uniqueArray(fc.nat(values - 1), { minLength: 1, maxLength: 3 }).map((each) => each.join()),
    fc
      .tuple(fc.nat(values - 1), fc.integer({ min: 1, max: values >> 1 }))
      .map(([from, step]) => `${from}-${values - 1}/${step}`),
  )
const cron: fc.Arbitrary<Exclusion> = fc
  .tuple(fc.option(list(60), { nil: null }), list(60), list(24), fc.constantFrom('*', '27-31', '1-4', 'L'), timezone)
  .map(([second, minute, hour, day, zone]) => ({
    kind: 'cron',
    cron: `${second === null ? '' : `${second} `}${minute} ${hour} ${day} * *`,
    timezone: zone,
  }))
const exclusion: fc.Arbitrary<Exclusion> = fc.oneof(
  { weight: 6, arbitrary: cron },
  fc.record({
    kind: fc.constant('date' as const),
    date: fc.constantFrom('2027-03-28', '2027-10-31', '2027-04-04', '2027-01-02'),
    timezone,
  }),
  fc.tuple(fc.constantFrom(...STARTS), fc.nat(2000), fc.integer({ min: 1, max: 600 })).map(([start, from, length]) => ({
    kind: 'range' as const,
    fromAt: start + from * MINUTE,
    toAt: start + (from + length) * MINUTE,
  })),
)
/** A step that never reaches a second value is refused by the reader; those are left out. */
const readable = (each: Exclusion): boolean => {
  try {
    excludedAt(each, 0)
    return true
  } catch {
    return false
  }
}

describe('exclusions as one', () => {
  it('leave free what none of them names, across clock changes', () => {
    fc.assert(
      fc.property(
        fc.array(exclusion.filter(readable), { minLength: 1, maxLength: 12 }),
        fc.constantFrom(...STARTS),
        fc.nat(86_400),
        (exclude, start, second) => {
          const from = start + second * 1000
          const free = exclusionsOf(exclude).freeFrom(from, from + 86_400_000, searchBudget(10_000_000))
          const isFree = (instant: number): boolean => exclude.every((each) => excludedAt(each, instant) === null)
          if (free <= from + 86_400_000) expect(isFree(free)).toBe(true)
          for (let instant = from; instant < Math.min(free, from + 86_400_000); instant += 61_000)
            expect(isFree(instant)).toBe(false)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('say why by the first of them, and never longer than that one holds', () => {
    const exclude: Exclusion[] = [
      { kind: 'cron', cron: '0-29 * * * * *', timezone: 'UTC' },
      { kind: 'date', date: '2027-01-02', timezone: 'UTC' },
    ]
    const { whyAt } = exclusionsOf(exclude)
    expect(whyAt(at('2027-01-02T00:00:10Z'))).toEqual({ detail: '0-29 * * * * *', untilAt: at('2027-01-02T00:00:30Z') })
    expect(whyAt(at('2027-01-02T00:00:30Z'))).toEqual({ detail: '2027-01-02', untilAt: at('2027-01-03T00:00:00Z') })
    expect(whyAt(at('2027-01-01T00:00:30Z'))).toBeNull()
  })
})

describe('a search', () => {
  const from = at('2027-01-01T00:00:00Z')
  const odd = { kind: 'cron', cron: '1-59/2 * * * * *', timezone: 'UTC' } as const
  const minutes = (count: number): Exclusion[] =>
    Array.from({ length: count }, (_, i) => ({ kind: 'cron', cron: `* ${i % 60} ${i % 24} * * *`, timezone: 'UTC' }))
  const hole: Exclusion[] = [
    { kind: 'cron', cron: '* * * 1-11 *', timezone: 'UTC' },
    { kind: 'cron', cron: '* * 1-30 * *', timezone: 'UTC' },
    { kind: 'cron', cron: '* 0-22 * * *', timezone: 'UTC' },
  ]
  const cost = (spec: TimingSpec): number => {
    const budget = searchBudget(SMALL_SEARCH)
    expect(nextRunAt(slotsOf(spec, ''), from, budget)).toBe(at('2027-12-31T23:00:01Z'))
    return SMALL_SEARCH - budget.left
  }

  it('for a needle in a year of excluded seconds costs little, and hardly more with a hundred exclusions', () => {
    const few = cost({ ...odd, exclude: hole })
    const many = cost({
      ...odd,
      exclude: [...minutes(97).filter((each) => 'cron' in each && !/ 23 /.test(each.cron)), ...hole],
    })
    expect(few).toBeLessThan(200)
    expect(many).toBeLessThan(SMALL_SEARCH / 2)
  })

  it('ends in a coded error that says what to mend where nothing is left', () => {
    const nothing = { ...odd, exclude: [...minutes(50), { ...odd, cron: '1-59/2 * * * * *' }] }
    const slots = slotsOf(nothing, '')
    expect(() => nextRunAt(slots, from)).toThrow(
      expect.objectContaining({ code: 'TIMING_EXPENSIVE', hint: expect.stringContaining('with any') }),
    )
  })

  it('goes on from where it stopped, and so finds the same with small budgets as with a large one', () => {
    const slots = slotsOf({ ...odd, exclude: hole }, '')
    let [found, after, rounds]: [number | null, number, number] = [null, from, 0]
    for (; found === null; rounds++) {
      const sought = slots.seek(after, searchBudget(20))
      found = sought.at
      after = sought.stoppedAt ?? after
    }
    expect(found).toBe(at('2027-12-31T23:00:01Z'))
    expect(rounds).toBeGreaterThan(2)
  })

  it('yields again and again, so that other work comes between', () => {
    const slots = slotsOf({ ...odd, exclude: hole }, '')
    const steps = findingRuns(slots, { afterAt: from, count: 100_000 }, searchBudget(200_000))
    let yields = 0
    while (!steps.next().done) yields++
    expect(yields).toBeGreaterThan(10)
  })
})
