/** The one place that reads the machine's clock; everything else is handed a clock or an instant. */

/** Answers the current instant as epoch milliseconds. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
