/** Reads `Retry-After`, in seconds or as a date, and keeps it within bounds; which answers may say it is decided in `answer.ts`. */

export const MIN_RETRY_MS = 1000
export const MAX_RETRY_MS = 3_600_000

export interface Told {
  readonly retryAfter: string | undefined
  /** The receiver's own clock, where it says: a date is then measured by that. */
  readonly date?: string | undefined
}

/** Null when there is nothing that can be read. */
export function retryAfterMs({ retryAfter, date }: Told, now: number): number | null {
  const text = retryAfter?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return bounded(Number(text) * 1000)
  const at = readDate(text)
  return at === null ? null : bounded(at - (readDate(date ?? '') ?? now))
}

const bounded = (ms: number): number => Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, ms))

/** Only as HTTP writes dates, such as `Sun, 06 Nov 1994 08:49:37 GMT`: what else Date reads depends on the machine's zone. */
function readDate(text: string): number | null {
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
