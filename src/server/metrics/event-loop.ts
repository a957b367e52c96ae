/** Measures the event loop delay of this process. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../../time/clock.ts'

export interface EventLoopDelay {
  /** The longest delay of at least the last half minute, or since the last reading if that is longer. */
  longestSeconds(): number
}

/** Sampled natively, without waking JavaScript. */
const RESOLUTION_MS = 20
/** A reading covers the current and the previous window, so that two scrapers do not reset each other's maximum. */
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
      // A tick on time measures one resolution.
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
