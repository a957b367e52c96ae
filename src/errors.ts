/** The catalogue of error codes and the error class that carries them; the code that throws writes the message. */
import { jsonText, printable } from './printable.ts'

/** Every code that Everytick can throw, with a short title; `docs/reference/errors.md` explains each. Codes are API and never renamed. */
export const ERROR_CODES = {
  CRON_LENGTH: 'the expression is longer than 256 characters',
  CRON_EMPTY: 'the expression is empty',
  CRON_FIELDS: 'the expression does not have 5, 6 or 7 fields',
  CRON_SYNTAX: 'a field contains text that is not valid cron syntax',
  CRON_RANGE: 'a value is outside the range of its field',
  CRON_REVERSED: 'a range runs backwards',
  CRON_STEP: 'a step is zero or never reaches a second value',
  CRON_LIST: 'a list has an empty item or more than 64 items',
  CRON_NAME: 'a month or weekday name is unknown',
  CRON_MACRO: 'the macro is unknown or not supported',
  CRON_NEVER: 'the expression has no occurrence in the next 8 years',
  DURATION_INVALID: 'a duration is not valid',
  INSTANT_INVALID: 'a date or time is not valid',
  BACKFILL_NOT_FOUND: 'the backfill does not exist',
  DUPLICATE_KEY: 'one call contains the same key twice',
  JOB_DUPLICATE: 'two jobs have the same name',
  JOB_UNKNOWN: 'this app has no job with that name',
  JSON_INVALID: 'a value cannot be stored as JSON',
  JSON_TOO_LARGE: 'a value exceeds the size limit',
  LEASE_LOST: 'the lease of a run ended, and another worker may hold the run',
  LOCK_HELD: 'another process holds the lock',
  LOCK_NOT_FOUND: 'the lock is not held',
  NOT_STARTED: 'the app is not started, or is stopped',
  OPTION_INVALID: 'an option has a value that is not allowed',
  OPTION_UNKNOWN: 'an option is unknown',
  PACKAGE_MISSING: 'a package that this feature needs is not installed',
  PAYLOAD_INVALID: 'a payload does not match the schema of its job',
  QUOTA_REACHED: 'a quota of the workspace is reached',
  QUOTA_SPENT: 'a quota of the workspace is used up for the current period',
  REVISION_CONFLICT: 'the schedule has changed since you read it',
  RUN_ABANDONED: 'a run with at-most-once delivery started and did not end',
  RUN_CANCELLED: 'the run was cancelled while it was running',
  RUN_NOT_FOUND: 'the run does not exist',
  RUN_NOT_FAILED: 'only a failed run can be retried',
  RUN_NOT_FINISHED: 'only a finished run can be deleted',
  RUN_TIMEOUT: 'an attempt took longer than its timeout',
  SCHEDULE_EXISTS: 'a schedule with that key already exists',
  SCHEDULE_NOT_FOUND: 'the schedule does not exist',
  SCHEMA_OUTDATED: 'the database schema is older than this version requires, and this process does not migrate it',
  SCHEMA_TOO_NEW: 'a newer version has migrated the database',
  SQLITE_MISSING: 'this runtime has no built-in SQLite, and the package for it is not installed',
  STORE_DENIED: 'the database rejects the role, its password or a missing permission, or the file is not writable',
  STORE_FULL: 'the disk of the database is full, so the write failed',
  STORE_MISSING: 'the database does not exist, or has no Everytick tables',
  STORE_STANDBY: 'the database server is a standby, or an old primary that a failover has replaced',
  STORE_TLS: 'the TLS connection to the database failed with the settings in its address',
  STORE_UNREACHABLE: 'cannot reach the database',
  STORE_UNUSABLE:
    'the database is not usable: the file is of another kind or damaged, or its tables were changed by hand',
  STORE_URL_INVALID: 'the address of the store is not valid',
  TARGET_REFUSED: 'an address or a header of a target is not allowed',
  TIMING_EXPENSIVE: 'finding the next occurrences of a timing is too expensive',
  TIMING_STUCK: 'a timing returned an occurrence that is not after its starting instant',
  TIMEZONE_UNKNOWN: 'the time zone is not an IANA name',
  UNCAUGHT_ERROR: 'an uncaught error ended the worker process',
  WAIT_TIMEOUT: 'a run or backfill did not end before the wait timed out',
} as const satisfies Record<string, string>

export type ErrorCode = keyof typeof ERROR_CODES

/** Half-open range of characters [start, end) in the rejected text. */
export type Span = readonly [start: number, end: number]

export interface ErrorDetails {
  /** What to do next, as a short phrase. */
  readonly hint?: string
  /** The rejected text, printed with carets under the span. */
  readonly source?: string
  readonly span?: Span
  readonly cause?: unknown
  /** The quota that the call would exceed. */
  readonly quota?: QuotaState
  /** How long to wait before the same call may succeed, if known. */
  readonly retryAfterMs?: number
}

/** The state of a quota when it rejected the call. */
export interface QuotaState {
  readonly name: string
  readonly limit: number
  readonly used: number
}

/** Escapes message and hint: they quote user input, and user code writes them to terminals and logs. */
export class EverytickError extends Error {
  override readonly name = 'EverytickError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly source: string | undefined
  readonly span: Span | undefined
  readonly quota: QuotaState | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(printable(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.hint = details.hint === undefined ? undefined : printable(details.hint)
    this.source = details.source
    this.span = details.span
    this.quota = details.quota
    this.retryAfterMs = details.retryAfterMs
  }

  /** The path of this code in the error reference. */
  get docs(): string {
    return `/docs/errors/${this.code}`
  }
}

/** A rejected value for use in a message: short, escaped, on one line. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return jsonText(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (value === null || typeof value !== 'object') return String(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : 'a Date'
  return Array.isArray(value) ? 'a list' : 'an object'
}
