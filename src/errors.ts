/** The catalogue of error codes and the one error class that carries them; what went wrong is decided where it is thrown. */
import { jsonText, printable } from './printable.ts'

/** Every code Everytick can throw, with the sentence that `docs/reference/errors.md` explains. Codes are API: never renamed. */
export const ERROR_CODES = {
  CRON_LENGTH: 'the expression is longer than 256 characters',
  CRON_EMPTY: 'the expression is empty',
  CRON_FIELDS: 'the expression does not have 5, 6 or 7 fields',
  CRON_SYNTAX: 'a field contains something that is not cron',
  CRON_RANGE: 'a value is outside what its field allows',
  CRON_REVERSED: 'a range runs backwards',
  CRON_STEP: 'a step is zero or never reaches a second value',
  CRON_LIST: 'a list has an empty item or more than 64 items',
  CRON_NAME: 'a month or weekday name is unknown',
  CRON_MACRO: 'the macro is unknown or not supported',
  CRON_NEVER: 'the expression has no occurrence in the next 8 years',
  DURATION_INVALID: 'a duration cannot be read',
  INSTANT_INVALID: 'a date or time cannot be read',
  BACKFILL_NOT_FOUND: 'there is no such backfill',
  DUPLICATE_KEY: 'the same key stands twice in one call',
  JOB_DUPLICATE: 'two jobs have the same name',
  JOB_UNKNOWN: 'no job of that name is known here',
  JSON_INVALID: 'a value cannot be stored as JSON',
  JSON_TOO_LARGE: 'a value is larger than what is stored',
  LEASE_LOST: 'the lease of a run ended and another worker may hold it',
  LOCK_HELD: 'another process holds the lock',
  LOCK_NOT_FOUND: 'nobody holds the lock',
  NOT_STARTED: 'the app has not been started, or was stopped',
  OPTION_INVALID: 'an option has a value that is not allowed',
  OPTION_UNKNOWN: 'an option is not known',
  PACKAGE_MISSING: 'a package that this feature needs is not installed',
  PAYLOAD_INVALID: 'a payload does not fit the schema of its job',
  QUOTA_REACHED: 'a quota of the workspace is reached',
  QUOTA_SPENT: 'a quota of the workspace is used up for now',
  REVISION_CONFLICT: 'the schedule was changed since it was read',
  RUN_ABANDONED: 'a run that may happen at most once began and did not end',
  RUN_CANCELLED: 'an operator cancelled the run while it was working',
  RUN_NOT_FOUND: 'there is no such run',
  RUN_NOT_FAILED: 'only a run that failed can be tried again',
  RUN_NOT_FINISHED: 'only a finished run can be deleted',
  RUN_TIMEOUT: 'an attempt took longer than its timeout',
  SCHEDULE_EXISTS: 'there is a schedule of that key already',
  SCHEDULE_NOT_FOUND: 'there is no such schedule',
  SCHEMA_OUTDATED: 'the database is older than this version needs, and this process does not migrate it',
  SCHEMA_TOO_NEW: 'the database was migrated by a newer version',
  SQLITE_MISSING: 'this runtime has no SQLite and the package for it is not installed',
  STORE_DENIED: 'the database refuses the role, its password or a right, or the file may not be written',
  STORE_FULL: 'the disk of the database is full, and what was to be written was not',
  STORE_MISSING: 'there is no such database, or it has no tables of Everytick',
  STORE_STANDBY: 'the database server is a standby, or an old primary server that a failover has replaced',
  STORE_TLS: 'the encrypted connection to the database cannot be made as its address says',
  STORE_UNREACHABLE: 'the database cannot be reached',
  STORE_UNUSABLE: 'this is no database that can be used: another kind of file, damaged, or changed by hand',
  STORE_URL_INVALID: 'the address of the store cannot be read',
  TARGET_REFUSED: 'an address or a header of a target is not allowed',
  TIMING_EXPENSIVE: 'finding the next occurrences of a timing takes too many steps',
  TIMING_STUCK: 'a timing answered an occurrence that is not after the one asked from',
  TIMEZONE_UNKNOWN: 'the time zone is not an IANA name',
  UNCAUGHT_ERROR: 'an error that no code caught ended the worker process',
  WAIT_TIMEOUT: 'a run had not ended when the wait for it was over',
} as const satisfies Record<string, string>

export type ErrorCode = keyof typeof ERROR_CODES

/** Half-open range of characters [start, end) in the text that was refused. */
export type Span = readonly [start: number, end: number]

export interface ErrorDetails {
  /** What to do next, as a short phrase. */
  readonly hint?: string
  /** The refused text, for the caret print. */
  readonly source?: string
  readonly span?: Span
  readonly cause?: unknown
  /** The quota that refused. */
  readonly quota?: QuotaState
  /** When the same call may succeed, where that is known. */
  readonly retryAfterMs?: number
}

/** A quota as it was when it refused. */
export interface QuotaState {
  readonly name: string
  readonly limit: number
  readonly used: number
}

/** Messages and hints quote what was given, and are written to terminals and logs by people's own code. */
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

/** A value that was refused, as a message may show it: short, on one line, and without trusting it. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return jsonText(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (value === null || typeof value !== 'object') return String(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : 'a Date'
  return Array.isArray(value) ? 'a list' : 'an object'
}
