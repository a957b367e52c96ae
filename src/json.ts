/** Turns values into JSON text that every store can hold, within size and depth limits. */
import { EverytickError } from './errors.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const MAX_JSON_BYTES = 256 * 1024
const MAX_DEPTH = 64

interface Bounds {
  /** The name of the value in error messages, such as `payload`. */
  readonly what: string
  readonly maxBytes?: number
  /** Rejects characters that no database can store, instead of replacing them with U+FFFD. */
  readonly strict?: boolean
}

/**
 * Returns the value as JSON text. Throws when the value cannot be stored faithfully: too large, too deep, a cycle, a BigInt.
 * `undefined` becomes null, because a job may return nothing.
 */
export function toJsonText(value: unknown, { what, maxBytes = MAX_JSON_BYTES, strict = false }: Bounds): string {
  const written = stringify(value, what)
  const text = wellFormed(written)
  if (strict && text !== written) {
    throw new EverytickError(
      'JSON_INVALID',
      `${what} contains a NUL character or a lone surrogate, which no database can store`,
    )
  }
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text
  const size = `${Math.ceil(Buffer.byteLength(text) / 1024)} KiB`
  throw new EverytickError(
    'JSON_TOO_LARGE',
    `${what} is too large: ${size}, and the limit is ${Math.floor(maxBytes / 1024)} KiB`,
    {
      hint: 'store the data elsewhere and pass a reference to it',
    },
  )
}

function stringify(value: unknown, what: string): string {
  let reason: string
  try {
    const fault = faultOf(value, { depth: 0, seen: { values: 0 } })
    if (fault === null) return JSON.stringify(value) ?? 'null'
    reason = fault
  } catch (cause) {
    // A BigInt, or a getter or toJSON of the caller that throws.
    reason = cause instanceof Error ? cause.message : String(cause)
  }
  throw new EverytickError('JSON_INVALID', `${what} cannot be stored as JSON: ${reason}`, { hint: 'pass plain data' })
}

/**
 * Postgres rejects NUL characters and lone surrogates inside JSON, and SQLite cuts text at a NUL. JSON.stringify writes
 * both as escapes, and whole surrogate pairs unescaped.
 */
function wellFormed(text: string): string {
  if (!text.includes('\\u')) return text
  return text.replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\\ufffd')
}

/** JSON within the size limit cannot contain more values. The limit ends the walk of objects that share parts. */
const MAX_VALUES = MAX_JSON_BYTES / 2

function faultOf(value: unknown, at: { depth: number; seen: { values: number } }): string | null {
  if (typeof value !== 'object' || value === null) return null
  if (at.depth === MAX_DEPTH) return `nested more than ${MAX_DEPTH} levels deep, or circular`
  for (const key in value) {
    if (++at.seen.values > MAX_VALUES) return `more than ${MAX_VALUES} values`
    const fault = faultOf((value as Record<string, unknown>)[key], { depth: at.depth + 1, seen: at.seen })
    if (fault !== null) return fault
  }
  return null
}
