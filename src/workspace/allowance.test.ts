import { describe, expect, it } from 'vitest'
import { allowance, FRESH_MS, fits, refusalMs, type Seen, weigh } from './allowance.ts'

const NOW = 100_000
const seen = (used: number, { drawn = 0, age = 0 } = {}): Seen => ({ used, drawn, at: NOW - age })

describe('the allowance of a process', () => {
  it.each([
    [800, 1000, 100],
    [80, 1000, 10],
    [8, 1000, 8],
    [1, 1000, 1],
    [0, 1000, 0],
    [-5, 1000, -5],
    [3, 10, 1],
    [100_000, 100_000, 12_500],
    [500, 100_000, 500],
  ])('with %i left of %i is %i', (left, limit, expected) => {
    expect(allowance(left, limit)).toBe(expected)
  })

  it('keeps eight processes within the limit while more than a hundredth of it is left', () => {
    for (let limit = 800; limit <= 100_000; limit *= 5)
      for (let left = Math.ceil((limit / 100) * 8); left <= limit; left += Math.ceil(limit / 50))
        expect(8 * (allowance(left, limit) - 1)).toBeLessThanOrEqual(left)
  })
})

describe('an amount that is wanted', () => {
  it.each<[string, Seen | null, number, number, ReturnType<typeof weigh>]>([
    ['was never counted', null, 100, 1, 'count'],
    ['fits the allowance', seen(20), 100, 10, 'go'],
    ['is the last of the allowance', seen(20, { drawn: 9 }), 100, 1, 'go'],
    ['is more than the allowance', seen(20, { drawn: 10 }), 100, 1, 'count'],
    ['was counted too long ago', seen(20, { age: FRESH_MS }), 100, 1, 'count'],
    ['is the last that is left', seen(99), 100, 1, 'go'],
    ['does not fit, and counting is cheap', seen(100), 100, 1, 'count'],
    ['does not fit, and the count is old for its cost', seen(1000, { age: 10 }), 1000, 1, 'count'],
    ['does not fit, and counting is expensive', seen(100_000, { age: 999 }), 100_000, 1, 'refuse'],
    ['does not fit, after the refusal has stood', seen(100_000, { age: 1000 }), 100_000, 1, 'count'],
    ['does not fit, but others of this process may have failed', seen(99, { drawn: 1 }), 100, 1, 'count'],
    ['fits, though not the allowance', seen(0), 100, 50, 'count'],
    ['is of a quota of nothing', seen(0), 0, 1, 'count'],
    ['is beside what planning has added', seen(1400), 1000, 1, 'refuse'],
  ])('that %s', (_, known, limit, wanted, expected) => {
    expect(weigh(known, { limit, wanted, now: NOW })).toBe(expected)
  })

  it('fits after a count up to the last place', () => {
    expect(fits(seen(90), { limit: 100, wanted: 10 })).toBe(true)
    expect(fits(seen(90, { drawn: 1 }), { limit: 100, wanted: 10 })).toBe(false)
    expect(fits(seen(0), { limit: 0, wanted: 1 })).toBe(false)
  })

  it('is refused without a count the longer, the more a count reads', () => {
    expect([100, 10_000, 100_000].map(refusalMs)).toEqual([0, 100, 1000])
  })
})
