/** Validates the options of an HTTP job; `http.ts` makes the calls. */
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
  /** Derived from the URL when absent; `http` without a URL. */
  readonly name?: string
  /** The URL to call. Without it, this is the generic HTTP job, whose payload contains the URL. */
  readonly url?: Url
  /** `POST` when absent. */
  readonly method?: HttpMethod
  /** Values are strings, or `{ secret: 'NAME' }` for one of `secrets`. */
  readonly headers?: HeaderOptions
  /** The signing secret, or the new and the old one while receivers rotate. */
  readonly secret?: string | readonly string[]
  /** Secrets by name, for `headers` and for payloads of the generic job. */
  readonly secrets?: Readonly<Record<string, SecretOption>>
  /** Any Standard Schema, as with `defineJob`; the call sends its output. */
  readonly payload?: Schema
  /** Paths of the payload that the server hides from everyone. */
  readonly redact?: readonly string[]
  /** How long one call may take; `30s` when absent. */
  readonly timeout?: Duration
  /** How long a run waits for its completion after a 202 response; the timeout when given, else `1h`. */
  readonly completeWithin?: Duration
  /** Whether a 202 response with `Location` or `everytick-async: true` hands the run over; true when absent. */
  readonly async?: boolean
  /** Whether the body wraps the payload in an envelope with facts about the run; true when absent. */
  readonly envelope?: boolean
  /** How many redirects to follow, each checked like the URL; 0 when absent. */
  readonly redirects?: number
  /** The most concurrent calls of this process to one host; 50 when absent. */
  readonly maxPerHost?: number
  /** The public URL of this app's server; calls then contain the URL to complete the run. */
  readonly publicUrl?: string
  /** Response headers to store. */
  readonly keepHeaders?: readonly string[]
  /** Called after every call; errors it throws are ignored. */
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
  if (onDispatch !== undefined && typeof onDispatch !== 'function')
    throw refused(`${of}: onDispatch must be a function`)
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
  throw refused(`${of}: ${found} needs url`, 'give it a url, or leave this to the payload of each schedule')
}

function fixedCall(options: HttpOptions, { of, way }: { readonly of: string; readonly way: WayOut }): FixedCall {
  const { url, headers = {}, payload } = options
  if (typeof url !== 'string') throw refused(`${of}: url must be a string, not ${shown(url)}`)
  way.guard.check(url)
  const method = readChoice(options.method ?? 'POST', `${of}: method`, METHODS)
  if (payload !== undefined && !hasBody(method)) {
    throw refused(`${of}: ${method} requests have no body for the payload`, 'use POST, PUT or PATCH')
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
