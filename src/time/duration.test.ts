import { describe, expect, it } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

describe('durations', () => {
  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each(['', '5', 'm', '5 m', '5x', '1m1h', '5m5m', '-5m', '1e3s', '99999999w', '5min', 'P1D', '5m\n'])(
    'refuses %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
    },
  )

  it.each(['250ms', '1m30s', '5m', '1h30m', '8d', '1w', '2w', '0s'])('writes %s as it was read', (text) => {
    expect(formatDuration(parseDuration(text))).toBe(text)
  })
})
