import { describe, expect, it } from 'vitest'
import { type Counted, meanMs, merged, quantile, quantiles, upTo } from './histogram.ts'

const BOUNDS = [10, 100, 1000]

describe('a share of what was counted in classes', () => {
  it.each([
    ['lies evenly within its class', [0, 90, 0, 0], 0.5, 55],
    ['begins at nothing in the first class', [10, 0, 0, 0], 0.5, 5],
    ['is the bound where a class ends with it', [50, 50, 0, 0], 0.5, 10],
    ['passes over empty classes', [0, 0, 10, 0], 0.1, 190],
    ['is the last bound where it lies above all of them', [1, 0, 0, 99], 0.95, 1000],
    ['is the end of the last class that has any', [0, 4, 0, 0], 1, 100],
    ['is the beginning of the first that has any, for no share at all', [0, 4, 0, 0], 0, 10],
  ])('%s', (_, counts, share, value) => {
    expect(quantile(BOUNDS, counts, share)).toBeCloseTo(value)
  })

  it.each([
    ['ends at the longest, not at the bound of its class', [0, 0, 1, 0], 130, 0.99, 129.7],
    ['lies between the last bound and the longest above it', [0, 0, 0, 2], 5000, 1, 5000],
    ['is the same where the longest is the bound', [50, 50, 0, 0], 100, 0.5, 10],
    ['is nothing where all were on time', [4, 0, 0, 0], 0, 0.99, 0],
  ])('%s, when the longest is known', (_, counts, longest, share, value) => {
    expect(quantile(upTo(BOUNDS, longest), counts, share)).toBeCloseTo(value)
  })

  it('is not known when nothing was counted', () => {
    expect(quantiles(BOUNDS, [0, 0, 0, 0])).toEqual({ p50: null, p95: null, p99: null })
    expect(quantiles(BOUNDS, [])).toEqual({ p50: null, p95: null, p99: null })
  })

  it('never falls as the share grows', () => {
    const counts = [3, 0, 7, 2]
    const values = Array.from({ length: 101 }, (_, i) => quantile(BOUNDS, counts, i / 100)!)
    expect(values).toEqual(values.toSorted((a, b) => a - b))
  })
})

describe('sums of several stretches', () => {
  const one: Counted = {
    ...{ succeeded: 1, failed: 2, cancelled: 3, skipped: 4, missed: 5, attempts: 6, doubled: 7 },
    ...{ lateness: [1, 0, 2], durations: [0, 3], durationSumMs: 30, latenessMaxMs: 400, durationMaxMs: 20 },
  }

  it('add up number by number and class by class', () => {
    const longer = { ...one, latenessMaxMs: 900 }
    expect(merged([one, longer, one]).latenessMaxMs).toBe(900)
    expect(merged([one, one])).toEqual({
      ...{ succeeded: 2, failed: 4, cancelled: 6, skipped: 8, missed: 10, attempts: 12, doubled: 14 },
      ...{ lateness: [2, 0, 4], durations: [0, 6], durationSumMs: 60, latenessMaxMs: 400, durationMaxMs: 20 },
    })
    expect(merged([])).toMatchObject({ succeeded: 0, lateness: [], durationSumMs: 0 })
  })

  it('tell how long one took on average, if any did', () => {
    expect(meanMs(one)).toBe(10)
    expect(meanMs(merged([]))).toBeNull()
  })
})
