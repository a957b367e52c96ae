/** An interval counted from a fixed anchor in elapsed time, so that it survives restarts and never drifts. */
import { EverytickError } from '../errors.ts'
import { formatDuration, parseDuration } from '../time/duration.ts'
import { MAX_INSTANT, readInstant } from './instant.ts'
import { Timing, type Warning } from './timing.ts'

/** A schedule finer than this is a loop, not a schedule. */
const MIN_INTERVAL_MS = 100
const YEAR_MS = 365 * 86_400_000

export interface IntervalOptions {
  /** Where counting starts; the Unix epoch when absent. Occurrences before it exist too. */
  readonly anchorAt?: string | Date
}

export class Interval extends Timing {
  readonly kind = 'interval'
  readonly timezone = 'UTC'
  readonly expression: string
  readonly intervalMs: number
  readonly anchorAt: number

  constructor(intervalMs: number, anchorAt: number) {
    super()
    this.intervalMs = intervalMs
    this.anchorAt = anchorAt
    this.expression = `@every ${formatDuration(intervalMs)}`
    Object.freeze(this)
  }

  nextAt(after: number): number | null {
    const at = this.anchorAt + (this.#ticks(after) + 1) * this.intervalMs
    return at > MAX_INSTANT ? null : at
  }

  prevAt(before: number): number | null {
    const at = this.anchorAt + (Math.ceil((before - this.anchorAt) / this.intervalMs) - 1) * this.intervalMs
    return at < -MAX_INSTANT ? null : at
  }

  countAt(from: number, to: number): number {
    return Math.max(0, this.#ticks(to) - this.#ticks(from))
  }

  describe(): string {
    return `Every ${formatDuration(this.intervalMs)}${this.anchorAt === 0 ? '' : `, counted from ${new Date(this.anchorAt).toISOString()}`}.`
  }

  protected warningsAt(from: number): Warning[] {
    const fires = this.countAt(from, from + YEAR_MS)
    return [{ code: 'FIRES_PER_YEAR', text: `${fires} fire${fires === 1 ? '' : 's'} in 12 months` }]
  }

  #ticks(at: number): number {
    return Math.floor((at - this.anchorAt) / this.intervalMs)
  }
}

export function every(duration: string, options: IntervalOptions = {}): Interval {
  const intervalMs = parseDuration(duration)
  if (intervalMs < MIN_INTERVAL_MS) {
    throw new EverytickError('DURATION_INVALID', `an interval of ${duration} is shorter than ${MIN_INTERVAL_MS}ms`, {
      hint: 'use a loop inside one run instead',
    })
  }
  return new Interval(intervalMs, options.anchorAt === undefined ? 0 : readInstant(options.anchorAt))
}
