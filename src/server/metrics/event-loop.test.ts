import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { createEventLoopDelay } from './event-loop.ts'

/** A histogram of ticks that come after so many milliseconds. */
function ticks() {
  let max = 0
  return {
    enable: () => true,
    reset: () => {
      max = 0
    },
    tick(ms: number) {
      max = Math.max(max, ms * 1e6)
    },
    get max() {
      return max
    },
  }
}

describe('the delay of the event loop', () => {
  it('is the longest by which a tick came late, in seconds', () => {
    const histogram = ticks()
    const delay = createEventLoopDelay(fakeClock(0), histogram)
    expect(delay.longestSeconds()).toBe(0)
    for (const ms of [20, 1520, 21]) histogram.tick(ms)
    expect(delay.longestSeconds()).toBe(1.5)
  })

  it('is seen by each of two scrapers, and forgotten after a minute', () => {
    const histogram = ticks()
    const clock = fakeClock(0)
    const delay = createEventLoopDelay(clock, histogram)
    histogram.tick(520)
    const seen = [15, 30, 31, 59, 61, 91, 122].map((second) => {
      clock.moveTo(second * 1000)
      return delay.longestSeconds()
    })
    expect(seen).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0, 0])
  })
})
