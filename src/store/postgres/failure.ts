/** Tells the kinds of failure apart: try the same again, the database is away, or the statement itself is wrong; who retries is decided elsewhere. */
import { EverytickError } from '../../errors.ts'

/** Serialization failure and deadlock: nothing was written, and the same may succeed the next time. */
const TRY_AGAIN = new Set(['40001', '40P01'])

/** The server is stopping, starting, out of connections, or has become a read-only standby. */
const AWAY = new Set(['57P01', '57P02', '57P03', '53300', '25006'])
const AWAY_SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
])
/** The driver gives these no code. */
const AWAY_WORDS =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable|connection ended/i

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''

export const mayTryAgain = (error: unknown): boolean => TRY_AGAIN.has(codeOf(error))

/** Somebody else holds what is wanted, for longer than was to be waited. */
export const isBusy = (error: unknown): boolean => codeOf(error) === '55P03'

/** What was to be unique is there already; nothing of the statement was written. */
export const isTaken = (error: unknown): boolean => codeOf(error) === '23505'

/** Whether the connection is of no more use: class 08, a dead socket, or a server that is going. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error)
  if (AWAY.has(code) || AWAY_SOCKET.has(code) || /^08...$/.test(code)) return true
  // Several addresses of one host that all refused come as one error without words.
  if (error instanceof AggregateError) return error.errors.some(isAway)
  return code === '' && error instanceof Error && AWAY_WORDS.test(error.message)
}

/** The failure as callers see it: what they may retry carries our code, everything else stays as the driver said it. */
export function failureOf(error: unknown, store: string): unknown {
  if (error instanceof EverytickError || !isAway(error)) return error
  const words = error instanceof Error && error.message ? error.message : codeOf(error)
  return new EverytickError('STORE_UNREACHABLE', `${store} cannot be reached: ${words}`, {
    hint: 'what was asked for may or may not have been written; ask again when the database is back',
    cause: error,
  })
}
