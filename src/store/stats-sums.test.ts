import { describe, expect, it } from 'vitest'
import { DURATION_BOUNDS, LATENESS_BOUNDS } from './contract/stats.ts'
import { nothingAt, statsOf } from './stats-sums.ts'

const counts = (bounds: readonly number[], places: readonly number[]): number[] =>
  Array.from({ length: bounds.length + 1 }, (_, place) => (places.includes(place) ? 1 : 0))

describe('sums that were kept before the longest was', () => {
  const { at, latenessMaxMs: _, durationMaxMs: __, ...kept } = nothingAt(0)

  it.each([
    ['nothing began', [], 0],
    ['the highest class ends at 25 ms', [0, 2], 25],
    ['something lies above the last bound', [0, LATENESS_BOUNDS.length], 300_000],
  ])('go up to where their highest class ends: %s', (_, places, most) => {
    const lateness = counts(LATENESS_BOUNDS, places)
    expect(statsOf(at, { ...kept, lateness }).latenessMaxMs).toBe(most)
  })

  it('go up to where their highest class ends, for durations too', () => {
    const durations = counts(DURATION_BOUNDS, [3])
    expect(statsOf(at, { ...kept, durations })).toMatchObject({ durationMaxMs: 50, latenessMaxMs: 0 })
  })

  it('keep what they say where they say it', () => {
    const lateness = counts(LATENESS_BOUNDS, [2])
    expect(statsOf(at, { ...kept, lateness, latenessMaxMs: 12 }).latenessMaxMs).toBe(12)
  })
})
