/** Decides, purely, which headers a call has: those of the user, in which secrets are put in when it is made, and those that say who calls for what. */
import { shown } from '../../errors.ts'
import { checkKeys, refused } from '../../options.ts'
import { checkHeaders, type Header } from '../guard/headers.ts'
import type { Secrets } from './secrets.ts'

/** Text, or a secret by its name, with `prefix` before it, such as `Bearer `. */
export type HeaderValue = string | { readonly secret: string; readonly prefix?: string }
export type HeaderOptions = Readonly<Record<string, HeaderValue>>

/** These are the same for every attempt, or say where it belongs: a value of one's own would break that. */
const OURS = new Set(['idempotency-key', 'traceparent'])
const STAND_IN = 'secret'

/** Refuses what could not be sent, before there is anything to send. */
export function checkHeaderOptions(headers: HeaderOptions, of: string): void {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw refused(`${of}: headers is an object, not ${shown(headers)}`)
  }
  const plain = Object.entries(headers).map(([name, value]) => {
    if (OURS.has(name.toLowerCase())) throw refused(`${of}: the header ${shown(name)} is set by Everytick`)
    return [name, plainValue(value, `${of}: the header ${shown(name)}`)] as const
  })
  checkHeaders(Object.fromEntries(plain))
}

function plainValue(value: HeaderValue, of: string): string {
  if (typeof value !== 'object' || value === null) return value
  checkKeys(value, ['secret', 'prefix'], of)
  if (typeof value.secret !== 'string' || value.secret === '') throw refused(`${of}: secret is the name of a secret`)
  if (value.prefix !== undefined && typeof value.prefix !== 'string') throw refused(`${of}: prefix is text`)
  return `${value.prefix ?? ''}${STAND_IN}`
}

export interface UserHeaders {
  readonly headers: readonly Header[]
  /** Values that nobody should read elsewhere. */
  readonly secrets: readonly string[]
}

export function userHeaders(given: HeaderOptions, secrets: Secrets, url: URL): UserHeaders {
  const hidden: string[] = []
  const plain = Object.entries(given).map(([name, value]) => {
    if (typeof value === 'string') {
      // `Bearer TOKEN` is hidden as a whole, and so is the token without its first word.
      if (SENSITIVE.test(name)) hidden.push(value, ...value.split(/[\s;,]+/).filter(({ length }) => length >= MIN_PART))
      return [name, value] as const
    }
    const secret = secrets.get(value.secret, url)
    hidden.push(secret)
    return [name, `${value.prefix ?? ''}${secret}`] as const
  })
  return { headers: checkHeaders(Object.fromEntries(plain)), secrets: hidden }
}

const SENSITIVE = /auth|cookie|token|key|secret|password|signature|session|credential/i
/** Shorter ones are words such as `Bearer`. */
const MIN_PART = 8
