/** Reads what a user typed for an HTTP job into settings that need no further check; what a call does with them stands in `http.ts`. */
import { createHash } from 'node:crypto'
import { shown } from '../../errors.ts'
import type { WorkOptions } from '../../job.ts'
import { WORK_KEYS } from '../../job.ts'
import {
  checkKeys,
  type Duration,
  readBoolean,
  readChoice,
  readDuration,
  readInteger,
  readList,
  readName,
  refused,
} from '../../options.ts'
import type { PayloadSchema } from '../../scheduler/payload.ts'
import { type WayOptions, type WayOut, wayOut } from './agents.ts'
import type { Dispatch } from './dispatch.ts'
import { type HttpMethod, hasBody, METHODS, REDACTED_PATHS } from './http-call.ts'
import { checkHeaderOptions, type HeaderOptions } from './http-headers.ts'
import { readSecrets, readSigning, type SecretOption, type Secrets, type Signing, UNSIGNED } from './secrets.ts'
import { STORED_HEADERS } from './stored-result.ts'

export interface HttpOptions<
  Schema extends PayloadSchema | undefined = PayloadSchema | undefined,
  Url extends string | undefined = string | undefined,
> extends WorkOptions,
    WayOptions {
  /** When absent, made from the address; `http` without one. */
  readonly name?: string
  /** Where to call. Without it the job is the generic one, whose payload says where. */
  readonly url?: Url
  /** `POST` when absent. */
  readonly method?: HttpMethod
  /** Values are text, or `{ secret: 'NAME' }` for one of `secrets`. */
  readonly headers?: HeaderOptions
  /** What calls are signed with: one, or the new one and the old one while receivers change theirs. */
  readonly secret?: string | readonly string[]
  /** Secrets by name, for `headers` and for payloads of the generic job. */
  readonly secrets?: Readonly<Record<string, SecretOption>>
  /** Any Standard Schema, as with `defineJob`; what it makes of the payload is sent. */
  readonly payload?: Schema
  /** Parts of the payload that the server shows nobody. */
  readonly redact?: readonly string[]
  /** How long one call may take; `30s` when absent. */
  readonly timeout?: Duration
  /** How long a run that was answered with 202 waits to be completed; the timeout when given, else `1h`. */
  readonly completeWithin?: Duration
  /** Whether 202 with `Location` or `everytick-async: true` leaves the run open; true when absent. */
  readonly async?: boolean
  /** Whether the payload is wrapped in the facts of the run; true when absent. */
  readonly envelope?: boolean
  /** How many redirects are followed, each checked again; 0 when absent. */
  readonly redirects?: number
  /** Calls of this process to one host at once; 50 when absent. */
  readonly maxPerHost?: number
  /** Where the server of this app is reached from outside; receivers are then told where to complete a run. */
  readonly publicUrl?: string
  /** Headers of answers that are kept. */
  readonly keepHeaders?: readonly string[]
  /** Told of every call; what it throws harms nothing. */
  readonly onDispatch?: (dispatch: Dispatch) => unknown
}

const OWN_KEYS = [
  ...[
    'name',
    'url',
    'method',
    'headers',
    'secret',
    'secrets',
    'payload',
    'redact',
    'completeWithin',
    'async',
    'envelope',
  ],
  ...['redirects', 'maxPerHost', 'publicUrl', 'keepHeaders', 'onDispatch', 'allow', 'allowPrivate', 'resolve', 'tls'],
]
export const KEYS: readonly string[] = [...OWN_KEYS, ...WORK_KEYS]
/** What the payload of the generic job says itself. */
const OF_ONE_CALL = ['method', 'headers', 'secret', 'payload', 'envelope'] as const
const DEFAULT_TIMEOUT = '30s'
const DEFAULT_WAIT_MS = 3_600_000

export interface HttpSettings {
  readonly name: string
  readonly timeout: Duration
  readonly timeoutMs: number
  readonly way: WayOut
  readonly secrets: Secrets
  readonly waitMs: number
  readonly async: boolean
  readonly redirects: number
  readonly maxPerHost: number
  readonly completionUrl: string | null
  readonly keepHeaders: readonly string[]
  /** Parts of the payload that nobody is shown. */
  readonly redact: readonly string[]
  readonly onDispatch: ((dispatch: Dispatch) => unknown) | null
  /** Null for the generic job. */
  readonly fixed: FixedCall | null
}

/** What is the same in every call of a job that has an address. */
export interface FixedCall {
  readonly url: string
  readonly method: HttpMethod
  readonly headers: HeaderOptions
  readonly signing: Signing
  readonly envelope: boolean
}

export function readHttpOptions(options: HttpOptions): HttpSettings {
  checkKeys(options, KEYS, 'http()')
  const name = nameOf(options)
  const of = `job "${name}"`
  const { timeout, completeWithin, keepHeaders = STORED_HEADERS, onDispatch, publicUrl } = options
  if (onDispatch !== undefined && typeof onDispatch !== 'function') throw refused(`${of}: onDispatch is a function`)
  const way = wayOut(options)
  return {
    name,
    way,
    timeout: timeout ?? DEFAULT_TIMEOUT,
    timeoutMs: readDuration(timeout ?? DEFAULT_TIMEOUT, `${of}: timeout`, 1),
    secrets: readSecrets(options.secrets, of),
    waitMs: waitOf(completeWithin ?? timeout, of),
    async: readBoolean(options.async ?? true, `${of}: async`),
    redirects: readInteger(options.redirects ?? 0, `${of}: redirects`, [0, 10]),
    maxPerHost: readInteger(options.maxPerHost ?? 50, `${of}: maxPerHost`, [1, 10_000]),
    completionUrl: publicUrl === undefined ? null : readPublicUrl(publicUrl, of),
    keepHeaders: readList(keepHeaders, `${of}: keepHeaders`, [0, 50]).map((header) =>
      readName(header, `${of}: a header to keep`).toLowerCase(),
    ),
    redact: redactedBy(options),
    onDispatch: onDispatch ?? null,
    fixed: options.url === undefined ? noFixedCall(options, of) : fixedCall(options, { of, way }),
  }
}

/** Whoever names parts of the body does not mean to show the headers; what is no list is refused with the job. */
const redactedBy = ({ redact = [], url }: HttpOptions): readonly string[] =>
  url === undefined && Array.isArray(redact) ? [...new Set([...REDACTED_PATHS, ...redact])] : redact

const waitOf = (wait: Duration | undefined, of: string): number =>
  wait === undefined ? DEFAULT_WAIT_MS : readDuration(wait, `${of}: completeWithin`, 1)

function nameOf({ name, url, method = 'POST' }: HttpOptions): string {
  if (name !== undefined) return readName(name, 'the name of a job')
  if (url === undefined) return 'http'
  // Paths can be secrets: so the name tells two of them apart without saying them.
  const mark = createHash('sha256').update(`${method} ${url}`).digest('hex').slice(0, 8)
  return URL.canParse(url) ? `http ${new URL(url).host} ${mark}` : 'http'
}

function noFixedCall(options: HttpOptions, of: string): null {
  const found = OF_ONE_CALL.find((key) => options[key] !== undefined)
  if (found === undefined) return null
  throw refused(
    `${of}: ${found} is nothing without url`,
    'give it a url, or leave this to the payload of each schedule',
  )
}

function fixedCall(options: HttpOptions, { of, way }: { readonly of: string; readonly way: WayOut }): FixedCall {
  const { url, headers = {}, payload } = options
  if (typeof url !== 'string') throw refused(`${of}: url is text, not ${shown(url)}`)
  way.guard.check(url)
  const method = readChoice(options.method ?? 'POST', `${of}: method`, METHODS)
  if (payload !== undefined && !hasBody(method)) {
    throw refused(`${of}: a ${method} has no body to put the payload into`, 'use POST, PUT or PATCH')
  }
  checkHeaderOptions(headers, of)
  // `secret: process.env.NAME` that is not set would otherwise call unsigned, and nobody would notice here.
  const signing = 'secret' in options ? readSigning(options.secret, of) : UNSIGNED
  return { url, method, headers, signing, envelope: readBoolean(options.envelope ?? true, `${of}: envelope`) }
}

function readPublicUrl(given: unknown, of: string): string {
  if (typeof given === 'string' && URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) {
    return given.replace(/\/+$/, '')
  }
  throw refused(`${of}: publicUrl cannot be ${shown(given)}`, 'write it like https://everytick.example.com')
}
