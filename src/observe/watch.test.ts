import { describe, expect, it } from 'vitest'
import { lastGapAt, type Watch, watched, watchedMs } from './watch.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

/** A watch with looks at these instants. */
const looks = (...at: number[]): Watch =>
  at.reduce<Watch | null>((watch, now) => watched(watch, { now, paused: [] }), null)!

const every15s = (fromAt: number, toAt: number): number[] =>
  Array.from({ length: Math.floor((toAt - fromAt) / (15 * SECOND)) + 1 }, (_, i) => fromAt + i * 15 * SECOND)

describe('what has lasted since an instant', () => {
  it.each<[string, Watch, number, number]>([
    ['counts in full while somebody looks', looks(...every15s(0, 5 * MINUTE)), MINUTE, 4 * MINUTE],
    ['counts nothing before the first look', looks(10 * MINUTE), 0, 0],
    ['counts from the first look on', looks(...every15s(10 * MINUTE, 11 * MINUTE)), 0, MINUTE],
    [
      'does not count a restart of three minutes',
      looks(0, 15 * SECOND, 15 * SECOND + 3 * MINUTE),
      20 * SECOND,
      10 * SECOND,
    ],
    ['does not count a gap before it', looks(0, 10 * MINUTE, 10 * MINUTE + 15 * SECOND), 10 * MINUTE, 15 * SECOND],
    ['counts a part of a gap as one look', looks(0, MINUTE), 0, 15 * SECOND],
    ['goes on after a gap', looks(0, 3 * MINUTE, ...every15s(3 * MINUTE, 5 * MINUTE)), 0, 2 * MINUTE + 15 * SECOND],
    ['is never negative, though the clock was set back', looks(10 * MINUTE, MINUTE), 5 * MINUTE, 0],
    [
      'counts slow looks in part, so that an alert is late and not lost',
      looks(...[0, 1, 2, 3, 4].map((n) => n * 40 * SECOND)),
      0,
      MINUTE,
    ],
  ])('%s', (_, watch, sinceAt, expected) => {
    expect(watchedMs(watch, sinceAt)).toBe(expected)
  })

  it('keeps no more than it needs', () => {
    const watch = looks(...Array.from({ length: 500 }, (_, n) => n * MINUTE))
    expect(watch.gaps).toHaveLength(50)
    expect(lastGapAt(watch)).toBe(499 * MINUTE)
  })
})

describe('pauses of queues', () => {
  it('are remembered for a day', () => {
    const one = watched(null, { now: 0, paused: ['mail'] })
    const later = watched(one, { now: 15 * SECOND, paused: [] })
    expect(later.paused).toEqual({ mail: 0 })
    expect(watched(later, { now: MINUTE, paused: ['mail', 'web'] }).paused).toEqual({ mail: MINUTE, web: MINUTE })
    expect(watched(later, { now: 25 * 60 * MINUTE, paused: [] }).paused).toEqual({})
  })
})
