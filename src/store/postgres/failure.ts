/** Turns what the Postgres driver throws into what went wrong for the user, and says what may be tried again; who retries is decided elsewhere. */
import { type ErrorCode, EverytickError } from '../../errors.ts'

/** Serialization failure and deadlock: nothing was written, and the same may succeed the next time. */
const TRY_AGAIN = new Set(['40001', '40P01'])

interface Refusal {
  readonly code: ErrorCode
  /** Follows the name of the store. */
  readonly text: string
  /** Which setting to check, and how to repair it. */
  readonly hint: string
}

const away = (text: string, hint: string): Refusal => ({ code: 'STORE_UNREACHABLE', text, hint })
const denied = (text: string, hint: string): Refusal => ({ code: 'STORE_DENIED', text, hint })
const tls = (text: string, hint: string): Refusal => ({ code: 'STORE_TLS', text, hint })

const ADDRESS = 'the address (--db, DATABASE_URL or store)'
const ASK_AGAIN = 'what was asked for may or may not have been written; ask again when the database is back'
const PASSWORD = denied(
  'refuses the password',
  `check the role and its password in ${ADDRESS}; percent-encode special characters in them`,
)
const CERTIFICATE = tls(
  'has a certificate that is not trusted',
  'name the certificate of its issuer with sslrootcert in the address, or correct sslmode',
)
const FULL: Refusal = {
  code: 'STORE_FULL',
  text: 'has no disk space left',
  hint: 'free some on the disk of the server; what was asked for was not written',
}
const NETWORK = away('cannot be reached over the network', `check host and port in ${ADDRESS}, and firewalls between`)
const UNKNOWN_HOST = away('has a host name that cannot be resolved', `check the host in ${ADDRESS}`)
const CUT_OFF = away('ended the connection', ASK_AGAIN)
const tlsFile = (text: string): Refusal => tls(text, 'check sslrootcert, sslcert and sslkey in the address')
const OVER_LIMIT: Refusal = {
  code: 'STORE_UNUSABLE',
  text: 'cancels a statement',
  hint: 'raise statement_timeout and lock_timeout of the role and of the database; the statement wrote nothing',
}

const POOLER: Refusal = {
  code: 'STORE_UNUSABLE',
  text: 'forgets prepared statements, as a pooler in transaction mode does',
  hint: `add ?prepare=false&listen=false to ${ADDRESS}, set max_prepared_statements in PgBouncer 1.21 or later, or use a pool in session mode`,
}

/** By SQLSTATE of the server, or by the code of a socket or of TLS. */
const BY_CODE: Readonly<Record<string, Refusal>> = {
  '3D000': {
    code: 'STORE_MISSING',
    text: 'does not exist',
    hint: `check the name of the database in ${ADDRESS}, or create it with createdb`,
  },
  '28P01': PASSWORD,
  '28000': denied('refuses the role', `check the role in ${ADDRESS}, and the rules of the server in pg_hba.conf`),
  '42501': denied(
    'refuses a right',
    'grant it to the role, or use a role that owns the schema: see "Rights" in docs/operate/stores.md',
  ),
  '25006': away(
    'is read-only',
    'use the address of the primary server, and check default_transaction_read_only of the role',
  ),
  '25P03': CUT_OFF,
  '25P04': CUT_OFF,
  '26000': POOLER,
  '42P05': POOLER,
  '53100': FULL,
  '53200': away('is out of memory', 'look at the log of the server; what was asked for was not written'),
  '53300': away(
    'has no connection left',
    'raise max_connections of the server, or the connection limit of the role or of the database; or lower max of the stores',
  ),
  '55P03': OVER_LIMIT,
  '57014': OVER_LIMIT,
  '57P01': away('was shut down', ASK_AGAIN),
  '57P02': away('was shut down', ASK_AGAIN),
  '57P05': CUT_OFF,
  '57P03': away('is starting or shutting down', ASK_AGAIN),
  ECONNREFUSED: away('does not listen', `check host and port in ${ADDRESS}; is the server running?`),
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  EHOSTUNREACH: NETWORK,
  ENETUNREACH: NETWORK,
  EADDRNOTAVAIL: NETWORK,
  ETIMEDOUT: NETWORK,
  ECONNRESET: CUT_OFF,
  EPIPE: CUT_OFF,
  ENOENT: tlsFile('names a file that is not there'),
  EISDIR: tlsFile('names a folder in place of a file'),
  ENOTDIR: tlsFile('names a file that is not there'),
  EACCES: tlsFile('names a file that this user may not read'),
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE,
  CERT_HAS_EXPIRED: tls('has a certificate that has expired', 'renew the certificate of the server'),
  ERR_TLS_CERT_ALTNAME_INVALID: tls(
    'has a certificate for another host name',
    `use the host name of the certificate in ${ADDRESS}`,
  ),
}

/** What says more than its code, or has none. The first that fits counts. */
const BY_WORDS: readonly (readonly [RegExp, Refusal])[] = [
  [
    /pg_hba\.conf.*no encryption/,
    tls(
      'takes no connection without TLS from here',
      `add ?sslmode=require to ${ADDRESS}, or permit the connection in pg_hba.conf of the server`,
    ),
  ],
  [
    /does not support SSL connections/,
    tls('does not offer TLS', `leave out sslmode in ${ADDRESS}, or set sslmode=disable`),
  ],
  [
    /password must be a (?:non-empty )?string|no password supplied/,
    denied('asks for a password', `add one to ${ADDRESS}`),
  ],
  [/role .* is not permitted to log in/, denied('has a role that may not log in', 'alter role … login')],
  [
    /received invalid response|unexpected message|error establishing an SSL/i,
    away('does not speak the protocol of Postgres', `check host and port in ${ADDRESS}`),
  ],
  [
    /SECURITY WARNING.*sslmode/,
    tls('needs a certificate', 'name the certificate of the issuer with sslrootcert in the address'),
  ],
  [
    /^connect (?:ENOENT|EACCES|ENOTDIR)/,
    away('does not listen', `check the path of the socket in ${ADDRESS}; is the server running?`),
  ],
  [/bind message supplies \d+ parameters/, POOLER],
  [/timeout expired|timeout exceeded when trying to connect/, NETWORK],
  [/connection terminated|query read timeout|not queryable|connection ended/i, CUT_OFF],
]

const codeOf = (error: unknown): string => {
  if (error instanceof EverytickError) return codeOf(error.cause)
  // Several addresses of one host that all refused come as one error without words.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

export const mayTryAgain = (error: unknown): boolean => TRY_AGAIN.has(codeOf(error))

/** Somebody else holds what is wanted, for longer than was to be waited. */
export const isBusy = (error: unknown): boolean => codeOf(error) === '55P03'

/** What was to be unique is there already; nothing of the statement was written. */
export const isTaken = (error: unknown): boolean => codeOf(error) === '23505'

/** The role lacks a right. */
export const isForbidden = (error: unknown): boolean => codeOf(error) === '42501'

/** The server did not answer in time. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error && /query read timeout|timeout expired/i.test(error.message)

/** The session, or the server, takes no writes. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006'

/** Refused by our own check of the server. */
export const isStandby = (error: unknown): boolean => error instanceof EverytickError && error.code === 'STORE_STANDBY'

/** Whether the connection is of no more use: class 08, a dead socket, or a server that is going. */
export const isAway = (error: unknown): boolean =>
  !(error instanceof EverytickError) &&
  refusalFor(error)?.code === 'STORE_UNREACHABLE' &&
  !KEEPS_CONNECTION.has(codeOf(error))

/** The statement failed, and the next one on the same connection need not. */
const KEEPS_CONNECTION = new Set(['53200'])

function refusalFor(error: unknown): Refusal | undefined {
  const code = codeOf(error)
  const words = error instanceof Error ? error.message : ''
  const [, byWords] =
    isSqlState(code) && !/^(?:08|28)/.test(code) ? [] : (BY_WORDS.find(([fits]) => fits.test(words)) ?? [])
  if (byWords !== undefined) return byWords
  if (FILE_ERROR.test(code) && NO_SPACE.test(words)) return FULL
  if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code]
  if (/^08...$/.test(code)) return CUT_OFF
  if (/^ERR_(?:SSL|TLS|OSSL)|^(?:EPROTO|CERT_)/.test(code)) return CERTIFICATE
  if (!isSqlState(code) || !isFromServer(error)) return undefined
  return error.severity === 'FATAL' ? NOT_OPENED : UNUSABLE
}

/** Errors of the server's files; other classes repeat words of the user. */
const FILE_ERROR = /^(?:53|58|XX)...$/
const NO_SPACE = /no space left on device|could not extend file|disk quota exceeded/i

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)
const isFromServer = (error: unknown): error is { readonly severity: unknown } =>
  typeof error === 'object' && error !== null && 'severity' in error

/** The server ends the connection with such an error: nearly always while it is being made. */
const NOT_OPENED: Refusal = {
  code: 'STORE_UNUSABLE',
  text: 'refuses the connection',
  hint: `check the parameters of ${ADDRESS}, and that the database accepts connections`,
}

const UNUSABLE: Refusal = {
  code: 'STORE_UNUSABLE',
  text: 'refuses a statement',
  hint: 'were tables of Everytick changed by hand? If not, please report it with these words',
}

/** The failure as callers see it, with a code of ours and the setting to check; what is not of the database stays as it is. */
export function failureOf(error: unknown, store: string): unknown {
  if (error instanceof EverytickError) return error
  const refusal = refusalFor(error)
  if (refusal === undefined) return error
  const first = error instanceof AggregateError ? error.errors[0] : error
  const words = first instanceof Error && first.message !== '' ? first.message : codeOf(error)
  return new EverytickError(refusal.code, `${store} ${refusal.text}: ${words}`, { hint: refusal.hint, cause: error })
}
