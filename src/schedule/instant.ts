/** Reads what callers hand over as an instant, and refuses what is none; instants are epoch milliseconds inside. */
import { EverytickError, shown } from '../errors.ts'

/** Beyond this a JavaScript Date is invalid. */
export const MAX_INSTANT = 8.64e15

export function instantOf(date: Date): number {
  const at = date instanceof Date ? date.getTime() : Number.NaN
  if (!Number.isNaN(at)) return at
  throw new EverytickError('INSTANT_INVALID', `${shown(date)} is not a valid Date`, {
    hint: "pass a Date, such as new Date('2027-01-04T09:00:00Z')",
  })
}

/** The answer as a Date, or null where there is none or no Date can hold it. */
export const dateOf = (at: number | null): Date | null =>
  at !== null && Math.abs(at) <= MAX_INSTANT ? new Date(at) : null

/** A date, or a date and time with its zone: a time without one is refused, because every reader would guess another. */
const RFC_3339 = /^(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/i

export function readInstant(value: string | Date): number {
  if (typeof value !== 'string') return instantOf(value)
  const date = value.length <= 40 ? RFC_3339.exec(value)?.[1] : undefined
  const at = date === undefined ? Number.NaN : Date.parse(value)
  // Date.parse takes 30 February for 2 March.
  if (!Number.isNaN(at) && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date!)) return at
  throw new EverytickError('INSTANT_INVALID', `${shown(value)} is not an instant`, {
    hint: 'write it like 2027-01-04T09:00:00Z or 2027-01-04T09:00:00+01:00',
  })
}
