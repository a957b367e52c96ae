/** The one place that reads the machine's clock; everything else is handed a clock or an instant. */

export interface Clock {
  /** The current instant as epoch milliseconds; it may jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since some fixed start; never goes back, so only differences mean anything. */
  elapsed(): number
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() }
