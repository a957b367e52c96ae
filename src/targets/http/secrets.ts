/** Holds the named secrets of a job: finds them when a run is executed, and says which host may be told which; they are never written anywhere. */
import { shown } from '../../errors.ts'
import { checkKeys, readList, readName, readText, refused } from '../../options.ts'
import { AttemptFailed } from '../../run/control.ts'
import { isSentTo, readHost, type SecretHost } from './secret-hosts.ts'
import { keyOf, PREFIX } from './signature.ts'

/**
 * A value, or with `hosts` one that only these are told: `api.example.com` over https, `api.example.com:8080` at that port, also
 * without.
 */
export type SecretOption = string | { readonly value: string; readonly hosts?: readonly string[] }

export interface Secrets {
  /** Throws when this worker has none of that name, or when whoever is called is not to be told. */
  get(name: string, url: URL): string
}

interface Secret {
  readonly value: string
  readonly hosts: readonly SecretHost[] | null
}

const MAX_LENGTH = 4096
const MAX_SECRETS = 1000
const MAX_ACTIVE = 4

export function readSecrets(given: unknown, of: string): Secrets {
  if (given !== undefined) checkKeys(given, Object.keys(given ?? {}), `${of}: secrets`)
  const entries = Object.entries((given ?? {}) as Record<string, unknown>)
  readList(entries, `${of}: secrets`, [0, MAX_SECRETS])
  const secrets = new Map(entries.map(([name, value]) => [name, readSecret(value, `${of}: the secret "${name}"`)]))
  return {
    get(name, url) {
      const secret = secrets.get(name)
      if (secret === undefined) throw unusable(`this worker has no secret named ${shown(name)}`)
      if (secret.hosts !== null && !isSentTo(secret.hosts, url)) {
        throw unusable(`the secret ${shown(name)} is not for this host, or not without https`)
      }
      return secret.value
    },
  }
}

function readSecret(given: unknown, what: string): Secret {
  if (typeof given === 'string') return { value: readValue(given, what), hosts: null }
  checkKeys(given, ['value', 'hosts'], what)
  const { value, hosts } = given as { value?: unknown; hosts?: unknown }
  if (hosts === undefined) return { value: readValue(value, what), hosts: null }
  const names = readList(hosts, `${what}: hosts`, [1, MAX_SECRETS]).map((host) =>
    readHost(readName(host, `${what}: a host`)),
  )
  return { value: readValue(value, what), hosts: names }
}

/** What was refused is not shown: it may be a part of what was meant. */
function readValue(given: unknown, what: string): string {
  if (typeof given !== 'string' || given === '')
    throw refused(`${what} is missing or empty`, 'is its environment variable set?')
  return readText(given, what, MAX_LENGTH)
}

/** Another worker may have been started with it, so it is worth another attempt. */
const unusable = (message: string): AttemptFailed =>
  new AttemptFailed('HttpError', message, { code: 'HTTP_SECRET_UNKNOWN' })

/** What calls are signed with: keys, the newest first, and the texts they were made of, which nobody should read elsewhere. */
export interface Signing {
  readonly keys: readonly Buffer[]
  readonly texts: readonly string[]
}

export const UNSIGNED: Signing = { keys: [], texts: [] }

export function readSigning(given: unknown, of: string): Signing {
  const secrets = typeof given === 'string' ? [given] : readList(given, `${of}: secret`, [1, MAX_ACTIVE])
  const signing = signingOf(secrets.map((secret) => readValue(secret, `${of}: secret`)))
  if (signing !== null) return signing
  throw refused(
    `${of}: secret is too short or not base64`,
    'use whsec_ and at least 16 bytes in base64, or longer text',
  )
}

/** With a named secret, which may hold several, one after another, while it is being changed: `whsec_NEW whsec_OLD`. */
export function namedSigning(value: string): Signing {
  const parts = value.trim().split(/\s+/)
  const signing = signingOf(parts.every((part) => part.startsWith(PREFIX)) ? parts.slice(0, MAX_ACTIVE) : [value])
  if (signing !== null) return signing
  throw unusable('the secret that signs is too short or not base64')
}

function signingOf(texts: readonly string[]): Signing | null {
  const keys = texts.map(keyOf).filter((key) => key !== null)
  const plain = texts.map((text) => (text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text))
  return keys.length === texts.length ? { keys, texts: plain } : null
}
