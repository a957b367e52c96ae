/** The interface of a schedule index, for any database: upsert, claim and delete of flat rows, and the checks of their input. */
import { EverytickError, shown } from '../errors.ts'
import { MAX_INSTANT } from '../schedule/instant.ts'

export interface ScheduleIndexRow {
  /** The owner of the schedule; with `key`, the identity of the row. */
  readonly userId: string
  readonly key: string
  readonly cron: string
  /** An IANA name; UTC when absent. */
  readonly timezone?: string
  /** Epoch milliseconds of the next occurrence to claim. */
  readonly nextFireAt: number
}

export interface ScheduleIndex {
  /** Inserts the row, or replaces the one with the same identity; stores `nextFireAt` unchanged. */
  upsert(row: ScheduleIndexRow): Promise<void>
  /**
   * Claims rows with `nextFireAt` at or before `now`, most overdue first, and moves each to its next occurrence after
   * `now`, all in one transaction. Returns them with the `nextFireAt` that was due. No other caller gets the same occurrence.
   */
  claimDue(now: number, limit?: number): Promise<ScheduleIndexRow[]>
  /** Deletes the row; does nothing if there is none. */
  remove(userId: string, key: string): Promise<void>
}

/** A due row that has no next occurrence to move to, because its expression or its zone cannot be read. */
export interface BadRow {
  readonly row: ScheduleIndexRow
  readonly error: Error
}

export interface ScheduleIndexOptions {
  /** Called once for each row that cannot be read; logs a warning by default. The row stays, at `NEVER_AT`, until an upsert repairs it. */
  readonly onBadRow?: (bad: BadRow) => void
  /** Leaves the table to your own migrations; without it, the first call that misses the table creates it. */
  readonly skipSchemaInit?: boolean
}

/** As much of a logger as the index and the collection use; `console` fits. */
export interface WarningLog {
  warn(message: string): unknown
}

export const DEFAULT_LIMIT = 100
/** More would hold its locks for too long. */
const MAX_LIMIT = 10_000
/** Two of these, three bytes to the character, still fit into the primary key of any database we know. */
const MAX_NAME = 255

/** After every instant that a Date, and so a `now`, can hold; and still a number that survives every driver. */
export const NEVER_AT = Number.MAX_SAFE_INTEGER

/** The row, checked: what no database could give back as it was is refused before it is written. */
export function readRow({ userId, key, cron, timezone, nextFireAt }: ScheduleIndexRow): ScheduleIndexRow {
  const names = { ...readIdentity(userId, key), cron: readText(cron, 'cron') }
  const zone = timezone === undefined ? {} : { timezone: readText(timezone, 'timezone') }
  return { ...names, ...zone, nextFireAt: readAt(nextFireAt, 'nextFireAt') }
}

export function readIdentity(userId: string, key: string): { readonly userId: string; readonly key: string } {
  return { userId: readName(userId, 'userId'), key: readName(key, 'key') }
}

export function readAt(value: number, what: string): number {
  if (Number.isInteger(value) && Math.abs(value) <= MAX_INSTANT) return value
  throw new EverytickError('INSTANT_INVALID', `${what} must be an instant in whole milliseconds, not ${shown(value)}`, {
    hint: 'pass epoch milliseconds, such as date.getTime()',
  })
}

export function readLimit(value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT) return value
  throw new EverytickError('OPTION_INVALID', `limit must be a whole number from 0 to ${MAX_LIMIT}, not ${shown(value)}`)
}

function readName(value: string, what: string): string {
  const { length } = readText(value, what)
  if (length > 0 && length <= MAX_NAME) return value
  throw new EverytickError('OPTION_INVALID', `${what} has ${length} characters`, { hint: `use 1 to ${MAX_NAME}` })
}

/** Postgres stores no NUL, and half a surrogate pair becomes another character on its way to either database. */
function readText(value: string, what: string): string {
  if (typeof value === 'string' && !value.includes('\0') && !/\p{Surrogate}/u.test(value)) return value
  const wrong =
    typeof value === 'string' ? 'contains a character that cannot be stored' : `must be a string, not ${shown(value)}`
  throw new EverytickError('OPTION_INVALID', `${what} ${wrong}`)
}
