/** What HTTP calls must reach; how it is measured stands in `main.mjs`. */

/** Calls per second; their due instants lie 2 ms apart. */
export const RATE = 500
/** For 99 of 100. */
export const MOST_LATE_MS = 100
export const STORES = ['sqlite', 'postgres']

/** What must have been measured. */
export const REQUIRED_ROWS = STORES.flatMap((store) => [`${store}-http-${RATE}-p99`, `${store}-http-${RATE}-arrived`])
