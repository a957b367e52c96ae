import { describe, expect, it } from 'vitest'
import type { CatchUpPolicy } from '../schedule/schedule.ts'
import { slotsOf } from '../schedule/slots.ts'
import { catchUp } from './catch-up.ts'

const MINUTE = 60_000
const minutely = slotsOf({ kind: 'interval', everyMs: MINUTE, anchorAt: 0 }, '')
/** The clock stands half a minute past the hundredth occurrence. */
const now = 100 * MINUTE + 30_000
const policy = (change: Partial<CatchUpPolicy>): CatchUpPolicy => ({
  catchUp: 'all',
  windowMs: 1000 * MINUTE,
  limit: 1000,
  ...change,
})
const range = (from: number, to: number, reason: string): object => ({
  state: 'missed',
  reason,
  fromAt: from * MINUTE,
  toAt: to * MINUTE,
  count: to - from + 1,
  detail: '',
  afterAt: (from - 1) * MINUTE,
})

/** What is missed, and the first minute that still becomes a run, after an outage that began at minute `first`. */
function outageFrom(first: number, change: Partial<CatchUpPolicy>): { missed: readonly object[]; next: number } {
  const caught = catchUp(minutely, policy(change), { firstAt: first * MINUTE, now })
  return { missed: caught.nonRuns, next: minutely.nextAt(caught.skipUntil)! / MINUTE }
}

describe('after an outage', () => {
  it.each([
    ['all', { catchUp: 'all' }, 91, [], 91],
    ['all, as many as the limit', { catchUp: 'all', limit: 10 }, 91, [], 91],
    ['all, one more than the limit', { catchUp: 'all', limit: 9 }, 91, [range(91, 91, 'limit')], 92],
    ['all, with a limit of none', { catchUp: 'all', limit: 0 }, 91, [range(91, 100, 'limit')], 101],
    ['latest', { catchUp: 'latest' }, 91, [range(91, 99, 'policy')], 100],
    ['latest, where only one was missed', { catchUp: 'latest' }, 100, [], 100],
    ['none', { catchUp: 'none' }, 91, [range(91, 100, 'policy')], 101],
    ['all, inside the window', { windowMs: 9.5 * MINUTE }, 91, [], 91],
    ['all, one outside the window', { windowMs: 9.5 * MINUTE - 1 }, 91, [range(91, 91, 'window')], 92],
    ['all, one on the edge of the window', { windowMs: 9.5 * MINUTE }, 90, [range(90, 90, 'window')], 91],
    ['all, none inside the window', { windowMs: 0 }, 91, [range(91, 100, 'window')], 101],
    [
      'all, outside the window and over the limit',
      { windowMs: 5 * MINUTE, limit: 2 },
      91,
      [range(91, 95, 'window'), range(96, 98, 'limit')],
      99,
    ],
    [
      'latest, with a window',
      { catchUp: 'latest', windowMs: 5 * MINUTE },
      91,
      [range(91, 95, 'window'), range(96, 99, 'policy')],
      100,
    ],
    ['latest, older than the window', { catchUp: 'latest', windowMs: MINUTE / 4 }, 91, [range(91, 100, 'window')], 101],
    [
      'none, with a window',
      { catchUp: 'none', windowMs: 5 * MINUTE },
      91,
      [range(91, 95, 'window'), range(96, 100, 'policy')],
      101,
    ],
  ] as const)('%s: what is missed is one range each, and the rest follows', (_, change, first, missed, next) => {
    expect(outageFrom(first, change)).toEqual({ missed, next })
  })

  it('accounts for each occurrence up to now once: missed, or left to be planned', () => {
    for (const mode of ['all', 'latest', 'none'] as const)
      for (const limit of [0, 1, 7, 50])
        for (const windowMs of [0, 1, MINUTE / 2, MINUTE, 17 * MINUTE, 500 * MINUTE])
          for (const first of [1, 50, 99, 100]) {
            const { missed, next } = outageFrom(first, { catchUp: mode, limit, windowMs })
            let open = first
            for (const { fromAt, toAt, count } of missed as { fromAt: number; toAt: number; count: number }[]) {
              expect(fromAt).toBe(open * MINUTE)
              open += count
              expect(toAt).toBe((open - 1) * MINUTE)
            }
            expect(next).toBe(open)
          }
  })

  it('counts a year of seconds without walking them', () => {
    const secondly = slotsOf({ kind: 'interval', everyMs: 1000, anchorAt: 0 }, '')
    const year = 365 * 86_400_000
    const caught = catchUp(secondly, policy({ windowMs: 2 * year, limit: 3 }), { firstAt: 1000, now: year })
    const counted = { fromAt: 1000, toAt: year - 3000, count: year / 1000 - 3 }
    expect(caught.nonRuns).toMatchObject([{ state: 'missed', reason: 'limit', ...counted }])
  })

  it('ends a single instant that was missed, and keeps one that was not', () => {
    const once = slotsOf({ kind: 'once', at: 5000 }, '')
    const outage = { firstAt: 5000, now: 9000 }
    const missed = catchUp(once, policy({ catchUp: 'none' }), outage)
    expect(once.nextAt(missed.skipUntil)).toBeNull()
    expect(missed.nonRuns).toMatchObject([{ fromAt: 5000, toAt: 5000, count: 1, reason: 'policy' }])
    const kept = catchUp(once, policy({ catchUp: 'latest' }), outage)
    expect(once.nextAt(kept.skipUntil)).toBe(5000)
    expect(kept.nonRuns).toEqual([])
  })

  it('catches up on the latest that may run, not on one that is excluded', () => {
    const exclude = [{ kind: 'range', fromAt: 95 * MINUTE, toAt: 200 * MINUTE }] as const
    const slots = slotsOf({ kind: 'interval', everyMs: MINUTE, anchorAt: 0, exclude }, '')
    const caught = catchUp(slots, policy({ catchUp: 'latest' }), { firstAt: 91 * MINUTE, now })
    expect(slots.nextAt(caught.skipUntil)).toBe(94 * MINUTE)
    expect(caught.nonRuns).toMatchObject([{ reason: 'policy', fromAt: 91 * MINUTE, toAt: 93 * MINUTE, count: 3 }])
  })
})
