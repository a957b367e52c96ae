/** Validates single option values; error messages name the option. */
import { didYouMean, nearestField } from './did-you-mean.ts'
import { EverytickError, shown } from './errors.ts'
import { invisibleIn } from './printable.ts'
import { readInstant } from './schedule/instant.ts'
import { formatDuration, parseDuration } from './time/duration.ts'

/** Text such as `5m` or `1h30m`, or a number of milliseconds. */
export type Duration = string | number
/** RFC 3339 with a zone, such as `2027-01-04T09:00:00Z`, or a Date. */
export type Instant = string | Date

/** Options that are designed and not implemented in this version. */
const NOT_YET = new Set(['grace'])

export const refused = (message: string, hint?: string): EverytickError =>
  new EverytickError('OPTION_INVALID', message, hint === undefined ? {} : { hint })

/** The same error with its subject in front, because one file may declare many schedules. */
export function named(cause: unknown, of: string, hint?: string): unknown {
  if (!(cause instanceof EverytickError)) return cause
  const { code, message, source, span } = cause
  const advice = hint ?? cause.hint
  return new EverytickError(code, `${of}: ${message}`, {
    cause,
    ...(advice === undefined ? {} : { hint: advice }),
    ...(source === undefined ? {} : { source }),
    ...(span === undefined ? {} : { span }),
  })
}

/** Throws unless `given` is an object with known keys. `of` names its owner in errors, such as `a schedule`. */
export function checkKeys(given: unknown, known: readonly string[], of: string): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refused(`the options of ${of} must be an object, not ${shown(given)}`)
  }
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue
    const near = nearestField(key, known)
    const hint = NOT_YET.has(key)
      ? 'this version does not support it yet, and rejects it instead of ignoring it'
      : near
        ? `did you mean ${near}?`
        : `known are ${known.join(', ')}`
    throw new EverytickError('OPTION_UNKNOWN', `"${key.slice(0, 60)}" is not an option of ${of}`, { hint })
  }
}

const MAX_NAME = 200
/** Postgres cannot store a NUL, and a name must not break a log line. */
const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0)
/** Every character below this code is visible, except control characters. */
const MAY_BE_INVISIBLE = 0xad

/** Reads a new name: of a key, workspace, queue, job, tag or lock. Names appear in rows, logs and URLs. */
export function readName(value: unknown, what: string): string {
  const name = readStoredName(value, what)
  let isPlain = true
  for (let i = 0; i < name.length && isPlain; i++) isPlain = name.charCodeAt(i) < MAY_BE_INVISIBLE
  const found = isPlain ? null : invisibleIn(name)
  if (found === null) return name
  throw refused(`${what} ${shown(name)} contains the invisible character ${found}`, 'remove it')
}

/** Reads a name that may already exist, or an identifier from user data; unlike a new name, it may contain invisible characters. */
export function readStoredName(value: unknown, what: string): string {
  if (typeof value !== 'string') throw refused(`${what} must be a string, not ${shown(value)}`)
  if (value.length === 0 || value.length > MAX_NAME) {
    throw refused(`${what} has ${value.length} characters`, `use 1 to ${MAX_NAME}`)
  }
  let isPlain = true
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (isControl(code)) throw refused(`${what} ${shown(value)} contains a control character`)
    if (code >= SURROGATES) isPlain = false
  }
  if (!isPlain && !isWellFormed(value))
    throw refused(`${what} ${shown(value)} contains a lone surrogate (half of a character)`)
  return value
}

/** Every UTF-16 unit below this code is a whole character. */
const SURROGATES = 0xd800
/** UTF-8 cannot encode a lone surrogate. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

export function readText(value: unknown, what: string, max: number): string {
  if (typeof value !== 'string') throw refused(`${what} must be a string, not ${shown(value)}`)
  if (value.length > max) throw refused(`${what} has ${value.length} characters`, `use at most ${max}`)
  return value
}

export function readInteger(value: unknown, what: string, [min, max]: readonly [number, number]): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw refused(`${what} must be a whole number from ${min} to ${max}, not ${shown(value)}`)
}

export function readChoice<Choice extends string>(value: unknown, what: string, allowed: readonly Choice[]): Choice {
  const found = allowed.find((choice) => choice === value)
  if (found !== undefined) return found
  const near = typeof value === 'string' ? didYouMean(value, allowed) : undefined
  throw refused(`${what} cannot be ${shown(value)}`, near ? `did you mean ${near}?` : `use ${allowed.join(', ')}`)
}

/** Throws unless `value` is an array of `min` to `max` entries. */
export function readList(value: unknown, what: string, [min, max]: readonly [number, number]): readonly unknown[] {
  if (!Array.isArray(value)) throw refused(`${what} must be a list, not ${shown(value)}`, 'put it into [ ]')
  if (value.length >= min && value.length <= max) return value
  throw refused(`${what} has ${value.length} entries`, `use ${min} to ${max}`)
}

export function readBoolean(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw refused(`${what} must be true or false, not ${shown(value)}`)
}

/** Returns milliseconds. */
export function readDuration(value: unknown, what: string, minMs = 0): number {
  const text = typeof value === 'number' ? `${value}ms` : value
  let ms: number
  try {
    ms = parseDuration(text as string)
  } catch (cause) {
    const hint = cause instanceof EverytickError ? cause.hint : undefined
    throw new EverytickError(
      'DURATION_INVALID',
      `${what} cannot be ${shown(value)}`,
      hint ? { hint, cause } : { cause },
    )
  }
  if (ms >= minMs) return ms
  throw refused(`${what} is ${shown(value)}, which is too short`, `use at least ${formatDuration(minMs)}`)
}

/** The years that RFC 3339 can express, minus a day at both ends for zone offsets; every store can hold them. */
const FIRST_INSTANT = Date.parse('0001-01-02T00:00:00Z')
const LAST_INSTANT = Date.parse('9999-12-30T00:00:00Z')

export function readInstantOption(value: unknown, what: string): number {
  let at: number
  try {
    at = readInstant(value as Instant)
  } catch (cause) {
    const hint = cause instanceof EverytickError ? cause.hint : undefined
    throw new EverytickError('INSTANT_INVALID', `${what} cannot be ${shown(value)}`, hint ? { hint, cause } : { cause })
  }
  if (at >= FIRST_INSTANT && at <= LAST_INSTANT) return at
  throw new EverytickError('INSTANT_INVALID', `${what} is out of range`, { hint: 'use a year from 1 to 9999' })
}
