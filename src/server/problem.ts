/** Converts errors to problem+json: code, location and hint. The code that throws provides the texts. */
import { ERROR_CODES, type ErrorCode, EverytickError, type QuotaState, type Span } from '../errors.ts'
import { PROBLEM_CODES, type ProblemCode } from './problem-codes.ts'

export interface Spot {
  /** A JSON pointer into the body, or `?name` for a query parameter. */
  readonly pointer: string
  readonly message?: string
  readonly span?: Span
  readonly hint?: string
}

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ProblemCode | ErrorCode
  readonly detail: string
  readonly hint?: string
  readonly errors?: readonly Spot[]
  /** The quota that was exceeded. */
  readonly quota?: QuotaState
  readonly requestId: string
}

/** A refusal for a reason that exists only over HTTP. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: ProblemCode
  readonly details: {
    readonly hint?: string
    readonly errors?: readonly Spot[]
    readonly headers?: Readonly<Record<string, string>>
  }

  constructor(code: ProblemCode, message: string, details: Refusal['details'] = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

export const notFound = (what: string, details: { readonly hint?: string } = {}): Refusal =>
  new Refusal('NOT_FOUND', `there is no ${what}`, details)

const STATUS: Partial<Record<ErrorCode, number>> = {
  BACKFILL_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  SCHEDULE_NOT_FOUND: 404,
  LEASE_LOST: 409,
  LOCK_HELD: 409,
  LOCK_NOT_FOUND: 404,
  QUOTA_REACHED: 409,
  QUOTA_SPENT: 429,
  REVISION_CONFLICT: 412,
  SCHEDULE_EXISTS: 409,
  RUN_NOT_FAILED: 409,
  RUN_NOT_FINISHED: 409,
  JSON_TOO_LARGE: 413,
  NOT_STARTED: 503,
  PACKAGE_MISSING: 503,
  SCHEMA_OUTDATED: 503,
  SCHEMA_TOO_NEW: 503,
  SQLITE_MISSING: 503,
  STORE_DENIED: 503,
  STORE_FULL: 503,
  STORE_MISSING: 503,
  STORE_STANDBY: 503,
  STORE_TLS: 503,
  STORE_UNREACHABLE: 503,
  STORE_UNUSABLE: 503,
  TIMING_STUCK: 500,
  WAIT_TIMEOUT: 503,
}
/** The status of invalid input that the engine rejected. */
const WRITTEN_WRONG = 422

/** The part of a schedule that an engine error refers to. */
function pointerOf(code: ErrorCode): string {
  if (code.startsWith('CRON_')) return '/cron'
  return { TIMEZONE_UNKNOWN: '/timezone', PAYLOAD_INVALID: '/payload', JOB_UNKNOWN: '/job' }[code as string] ?? ''
}

export interface Told {
  readonly problem: Problem
  readonly headers: Readonly<Record<string, string>>
  /** Whether it is a server error, which must be logged. */
  readonly isOurs: boolean
}

/** Shows the details of a server error only to callers of all workspaces; others get a generic problem. */
export function problemOf(error: unknown, requestId: string, seesInside = false): Told {
  const told = fullProblem(error, requestId)
  if (!told.isOurs || seesInside || told.problem.code === 'INTERNAL') return told
  // The message may contain user, host and database name, and the code reveals what is wrong with them.
  const code = told.problem.status === 503 ? 'UNAVAILABLE' : 'INTERNAL'
  const [status, title] = PROBLEM_CODES[code]
  const blank = new Error('see the server log for the cause, under this request id')
  return { ...told, problem: made({ code, status, title, error: blank, requestId }) }
}

function fullProblem(error: unknown, requestId: string): Told {
  if (error instanceof Refusal) {
    const { hint, errors, headers = {} } = error.details
    const [status, title] = PROBLEM_CODES[error.code]
    return {
      problem: made({ code: error.code, status, title, error, hint, errors, requestId }),
      headers,
      isOurs: false,
    }
  }
  if (error instanceof EverytickError) {
    const { code, hint, span } = error
    const status = STATUS[code] ?? WRITTEN_WRONG
    const spot = { pointer: pointerOf(code), ...(span ? { span } : {}), ...(hint ? { hint } : {}) }
    const errors = status === WRITTEN_WRONG ? [spot] : undefined
    const title = sentence(ERROR_CODES[code])
    const headers = retryAfter(status, error)
    const problem = made({ code, status, title, error, hint, errors, quota: error.quota, requestId })
    return { problem, headers, isOurs: status >= 500 }
  }
  // Internal errors go to the log only: they may contain rows and addresses.
  const [status, title] = PROBLEM_CODES.INTERNAL
  const blank = new Error('internal error; see the server log under this request id')
  return { problem: made({ code: 'INTERNAL', status, title, error: blank, requestId }), headers: {}, isOurs: true }
}

interface Parts extends Pick<Problem, 'code' | 'status' | 'title' | 'requestId'> {
  readonly error: Error
  readonly hint?: string | undefined
  readonly errors?: readonly Spot[] | undefined
  readonly quota?: QuotaState | undefined
}

const made = ({ code, status, title, error, hint, errors, quota, requestId }: Parts): Problem => ({
  type: `/docs/errors/${code}`,
  title,
  status,
  code,
  detail: error.message,
  ...(hint === undefined ? {} : { hint }),
  ...(errors === undefined ? {} : { errors }),
  ...(quota === undefined ? {} : { quota }),
  requestId,
})

function retryAfter(status: number, { retryAfterMs }: EverytickError): Readonly<Record<string, string>> {
  if (retryAfterMs !== undefined) return { 'retry-after': `${Math.ceil(retryAfterMs / 1000)}` }
  return status === 503 ? { 'retry-after': '1' } : {}
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`
