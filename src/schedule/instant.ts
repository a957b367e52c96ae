/** Reads what callers hand over as an instant, and refuses what is none; instants are epoch milliseconds inside. */
import { EverytickError } from '../errors.ts'

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

/** An RFC 3339 text with a zone, or a Date; a time without a zone is refused because every reader would guess another. */
export function readInstant(value: string | Date): number {
  if (typeof value !== 'string') return instantOf(value)
  const at =
    value.length <= 40 && /^\d{4}-\d\d-\d\d([T ][\d:.]+)?(Z|[+-]\d\d:?\d\d)?$/i.test(value)
      ? Date.parse(value)
      : Number.NaN
  const zoned = value.length === 10 || /(Z|[+-]\d\d:?\d\d)$/i.test(value)
  if (!Number.isNaN(at) && zoned) return at
  throw new EverytickError('INSTANT_INVALID', `${shown(value)} is not an instant`, {
    hint: 'write it like 2027-01-04T09:00:00Z or 2027-01-04T09:00:00+01:00',
  })
}

function shown(value: unknown): string {
  if (value instanceof Date) return 'Invalid Date'
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return value === null ? 'null' : typeof value
}
