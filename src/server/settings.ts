/** The options of a server, with defaults and validation; `listen.ts` has the listening options. */
import { checkKeys, type Duration, readBoolean, readChoice, readDuration, readInteger, refused } from '../options.ts'
import { printable } from '../printable.ts'
import { readAllowList } from '../targets/guard/allow-list.ts'
import { SCOPES, type Scope } from './scope.ts'
import type { Rate } from './throttle.ts'

/** The host's authorization of a request: scope, workspace and name of the caller. */
export type AuthResult = 'none' | Scope | { readonly scope: Scope; readonly name?: string; readonly workspace?: string }

export interface ServerOptions {
  /** The mount path, such as `/everytick`. Default: none. */
  readonly basePath?: string
  /** Lets the host authenticate requests instead of API keys. */
  readonly authorize?: (request: Request) => AuthResult | Promise<AuthResult>
  /** Default: `keys`. `open`: no authentication, every caller is admin; only for development on your own machine. */
  readonly access?: 'keys' | 'open'
  /** Whether `/metrics` needs no authentication. Default: false. */
  readonly publicMetrics?: boolean
  /** Whether the OpenAPI document and its page need no authentication. Default: false. */
  readonly publicDocs?: boolean
  /** Default: 1 MiB. */
  readonly maxBodyBytes?: number
  /** The rate limit per caller. Default: 200 requests a second, bursts of 400. */
  readonly rate?: Rate
  /** Whether this process also runs the background tasks of a server (alerts, sums, bulk operations). Default: true. */
  readonly backgroundTasks?: boolean
  /** A URL to request regularly while alert checking works: a dead man's switch. */
  readonly heartbeat?: { readonly url: string; readonly every?: Duration }
  /**
   * Whether alert channels may reach this machine and private networks. Default: false. A list names the hosts that they
   * may reach there: `host`, `*.host`, `host:port`, an address, or a range such as `10.0.0.0/8`.
   */
  readonly allowPrivate?: boolean | readonly string[]
}

export interface ServerSettings {
  readonly basePath: string
  readonly authorize: ServerOptions['authorize'] | null
  readonly access: 'keys' | 'open'
  readonly publicMetrics: boolean
  readonly publicDocs: boolean
  readonly maxBodyBytes: number
  readonly rate: Rate
  readonly backgroundTasks: boolean
  readonly heartbeat: { readonly url: string; readonly everyMs: number } | null
  readonly allowPrivate: boolean | readonly string[]
}

const KEYS =
  'basePath authorize access publicMetrics publicDocs maxBodyBytes rate backgroundTasks heartbeat allowPrivate'.split(
    ' ',
  )

export function readServerOptions(options: ServerOptions): ServerSettings {
  checkKeys(options, KEYS, 'a server')
  const { authorize, rate = { burst: 400, perSecond: 200 }, heartbeat } = options
  if (authorize !== undefined && typeof authorize !== 'function') throw refused('authorize must be a function')
  checkKeys(rate, ['burst', 'perSecond'], 'rate')
  return Object.freeze({
    basePath: readBasePath(options.basePath ?? ''),
    authorize: authorize ?? null,
    access: readChoice(options.access ?? 'keys', 'access', ['keys', 'open']),
    publicMetrics: readBoolean(options.publicMetrics ?? false, 'publicMetrics'),
    publicDocs: readBoolean(options.publicDocs ?? false, 'publicDocs'),
    maxBodyBytes: readInteger(options.maxBodyBytes ?? 1_048_576, 'maxBodyBytes', [1024, 67_108_864]),
    rate: {
      burst: readInteger(rate.burst, 'rate.burst', [1, 1_000_000]),
      perSecond: readInteger(rate.perSecond, 'rate.perSecond', [1, 1_000_000]),
    },
    backgroundTasks: readBoolean(options.backgroundTasks ?? true, 'backgroundTasks'),
    heartbeat: heartbeat === undefined ? null : readHeartbeat(heartbeat),
    allowPrivate: readAllowPrivate(options.allowPrivate ?? false),
  })
}

function readAllowPrivate(given: unknown): boolean | readonly string[] {
  if (!Array.isArray(given)) return readBoolean(given, 'allowPrivate')
  // Parsed here, so that an invalid host fails at server creation and not at the first alert.
  readAllowList(given)
  return given
}

function readBasePath(path: unknown): string {
  if (typeof path === 'string' && /^(?:\/[\w.~-]+)*$/.test(path)) return path
  throw refused(`basePath cannot be ${JSON.stringify(path)}`, 'write it like /everytick, without a trailing slash')
}

function readHeartbeat(heartbeat: NonNullable<ServerOptions['heartbeat']>): ServerSettings['heartbeat'] {
  checkKeys(heartbeat, ['url', 'every'], 'heartbeat')
  const { url } = heartbeat
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw refused('heartbeat.url must begin with http:// or https://')
  return { url, everyMs: readDuration(heartbeat.every ?? '1m', 'heartbeat.every', 1000) }
}

/** Validates the result of `authorize` strictly, because it grants access. */
export function readAuthResult(authResult: unknown): { scope: Scope; name: string; workspace: string | null } | null {
  const { scope, name, workspace } = (
    typeof authResult === 'object' && authResult !== null ? authResult : { scope: authResult }
  ) as {
    scope?: unknown
    name?: unknown
    workspace?: unknown
  }
  if (!SCOPES.includes(scope as Scope)) return null
  // An invalid workspace must not become access to all workspaces.
  if (workspace !== undefined && (typeof workspace !== 'string' || workspace === ''))
    throw new Error('authorize returned an invalid workspace name; leave it out for all workspaces')
  return {
    scope: scope as Scope,
    name: typeof name === 'string' && name !== '' ? printable(name) : 'host',
    workspace: workspace ?? null,
  }
}
