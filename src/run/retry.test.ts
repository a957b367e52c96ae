import { describe, expect, it } from 'vitest'
import { DEFAULT_RETRY, type RetryPolicy, retryDelayMs } from './retry.ts'

const exponential: RetryPolicy = { attempts: 10, backoff: 'exponential', baseMs: 1000, maxMs: 60_000 }
const fixed: RetryPolicy = { ...exponential, backoff: 'fixed' }
const ALMOST_ONE = 1 - Number.EPSILON

describe('the pause before the next attempt', () => {
  it.each([
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [6, 32_000],
    [7, 60_000],
    [1000, 60_000],
  ])('is at most the doubled base, bounded: after attempt %i at most %i ms', (attempt, bound) => {
    expect(retryDelayMs(exponential, attempt, ALMOST_ONE)).toBe(bound)
    expect(retryDelayMs(exponential, attempt, 0)).toBe(0)
  })

  it('is spread evenly over the whole span, so that what failed together comes back apart', () => {
    const rolls = Array.from({ length: 1001 }, (_, i) => retryDelayMs(exponential, 1, (i + 0.5) / 1001))
    expect(new Set(rolls).size).toBe(1001)
    expect(retryDelayMs(exponential, 3, 0.5)).toBe(2000)
  })

  it('does not grow when the backoff is fixed', () => {
    for (const attempt of [1, 2, 50]) expect(retryDelayMs(fixed, attempt, ALMOST_ONE)).toBe(1000)
  })

  it('never exceeds the maximum, even where the base does', () => {
    expect(retryDelayMs({ ...fixed, maxMs: 10 }, 1, ALMOST_ONE)).toBe(10)
  })

  it('is a whole, finite number of milliseconds for any attempt and roll', () => {
    const unbounded = { ...DEFAULT_RETRY, maxMs: Number.MAX_SAFE_INTEGER }
    for (const attempt of [1, 2, 41, 42, 5000])
      for (const roll of [0, 0.123456789, 0.5, ALMOST_ONE])
        expect(Number.isSafeInteger(retryDelayMs(unbounded, attempt, roll))).toBe(true)
  })
})
