/** Measures for how long the event loop of this process was held up; whether that is too long is for rules to say. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../../time/clock.ts'

export interface EventLoopDelay {
  /** The longest delay of the last half minute at least, and of the time since the last reading if that is longer. */
  longestSeconds(): number
}

/** Native ticks, which wake no JavaScript. */
const RESOLUTION_MS = 20
/** Two scrapers must not take each other's maximum away: a reading covers the window that is open and the one before. */
const WINDOW_MS = 30_000

export function createEventLoopDelay(
  clock: Clock,
  histogram: Pick<IntervalHistogram, 'enable' | 'reset' | 'max'> = monitorEventLoopDelay({ resolution: RESOLUTION_MS }),
): EventLoopDelay {
  histogram.enable()
  let beganAt = clock.elapsed()
  let before = 0
  return {
    longestSeconds() {
      // A tick that comes on time counts as one resolution.
      const longest = Math.max(0, histogram.max / 1e9 - RESOLUTION_MS / 1000)
      const seconds = Math.max(before, longest)
      if (clock.elapsed() - beganAt >= WINDOW_MS) {
        before = longest
        beganAt = clock.elapsed()
        histogram.reset()
      }
      return seconds
    },
  }
}
