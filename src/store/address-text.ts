/** Reads the address of a Postgres store, and writes addresses so that they can be pasted after `--db`: without a password, and quoted for a shell where needed. */
import { EverytickError } from '../errors.ts'

export const sqliteAddress = (path: string): string => forShell(`sqlite:${path}`)

/** The address of a Postgres store with `<password>` in place of each password in it. */
export function postgresAddress(url: string, schema: string): string {
  const parts = partsOf(url)
  const first = parts && parts.prefix + parts.hosts[0]! + parts.rest
  if (!parts || !URL.canParse(first!)) return '<address>'
  const shown = new URL(first!)
  if (schema !== 'everytick') shown.searchParams.set('schema', schema)
  for (const name of [...shown.searchParams.keys()]) if (/pass/i.test(name)) shown.searchParams.set(name, PASSWORD)
  if (shown.password !== '') shown.password = PASSWORD
  const others = parts.hosts.slice(1).map((host) => `,${host}`)
  const text = shown.href.replace(shown.host, () => [shown.host, ...others].join(''))
  return forShell(text.replaceAll(PASSWORD, '<password>'))
}

/** What an address says besides where the database is. */
export interface PostgresSettings {
  readonly schema?: string
  readonly prepare?: boolean
  readonly listen?: boolean
  readonly max?: number
}

export interface PostgresPlaces {
  /** One for each host, in the order of the address, and without the settings; what is left in it is the driver's. */
  readonly urls: readonly [string, ...string[]]
  /** For people: the hosts as they were written. */
  readonly hosts: string
  readonly settings: PostgresSettings
}

/** Reads `postgres://user@a,b:5433/database?prepare=false`: several hosts, and settings of ours. */
export function readPostgresAddress(text: string): PostgresPlaces {
  const { prefix, hosts, rest } = partsOf(text) ?? { prefix: '', hosts: [], rest: '' }
  if (hosts.length > 1 && hosts.includes('')) throw invalid('the address of the Postgres store names an empty host')
  const urls = (hosts.length > 1 ? hosts.map((host) => prefix + host + rest) : [text]).map(readPostgresUrl)
  const given = urls[0]!.searchParams
  const session = given.get('target_session_attrs')
  if (session !== null && !['read-write', 'primary'].includes(session)) {
    throw invalid('target_session_attrs in the address is read-write or primary: Everytick writes')
  }
  const [schema, prepare, listen, max] = [
    given.get('schema'),
    yesOrNo(given, 'prepare'),
    yesOrNo(given, 'listen'),
    given.get('max'),
  ]
  if (max !== null && !/^[1-9]\d{0,3}$/.test(max)) throw invalid('max in the address is a whole number from 1 on')
  // An address without any of ours is the driver's as it stands.
  const isPlain = urls.length === 1 && !isTlsAlias(given) && !OURS.some((name) => given.has(name))
  const [first, ...others] = isPlain ? [text] : urls.map(forDriver)
  return {
    urls: [first!, ...others],
    hosts: hosts.join(','),
    settings: {
      ...(schema === null ? {} : { schema }),
      ...(prepare === null ? {} : { prepare }),
      ...(listen === null ? {} : { listen }),
      ...(max === null ? {} : { max: Number(max) }),
    },
  }
}

const OURS = ['schema', 'prepare', 'listen', 'max', 'target_session_attrs']

function forDriver(url: URL): string {
  for (const name of OURS) url.searchParams.delete(name)
  if (isTlsAlias(url.searchParams)) url.searchParams.set('sslmode', 'verify-full')
  return url.href
}

/** Words that the driver takes for `verify-full`, and warns of on several lines between those of our log. */
const isTlsAlias = (given: URLSearchParams): boolean =>
  given.get('uselibpqcompat') !== 'true' && ['prefer', 'require', 'verify-ca'].includes(given.get('sslmode') ?? '')

function yesOrNo(given: URLSearchParams, name: string): boolean | null {
  const text = given.get(name)
  if (text === null || text === 'true' || text === 'false') return text === null ? null : text === 'true'
  throw invalid(`${name} in the address is true or false`)
}

const invalid = (message: string): EverytickError =>
  new EverytickError('STORE_URL_INVALID', message, {
    hint: 'write it like postgres://user:password@host:5432/database?prepare=false&listen=false&max=10',
  })

/** The standard for addresses knows no list of hosts, at least not with ports; it too takes a host to begin after the last `@`. */
function partsOf(text: string): { prefix: string; hosts: string[]; rest: string } | null {
  const found = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(text)
  return found && { prefix: found[1]!, hosts: found[2]!.split(','), rest: found[3]! }
}

/** Survives the encoding of an address, unlike angle brackets. */
const PASSWORD = 'PASSWORD-IS-NOT-SHOWN'

/** Refuses an address that the driver could not read, or would read as something else than was meant. */
export function readPostgresUrl(text: string): URL {
  if (URL.canParse(text)) {
    const url = new URL(text)
    const isPostgres = /^postgres(?:ql)?:$/.test(url.protocol)
    if (isPostgres && !hidesPassword(url) && [url.username, url.password, url.pathname].every(canDecode)) return url
  }
  throw new EverytickError('STORE_URL_INVALID', 'the address of the Postgres store cannot be read', {
    hint: 'write it like postgres://user:password@host:5432/database, with special characters percent-encoded',
  })
}

/** `postgres://app:12/3@db/shop` reads as the host `app` and a database that holds half of the password: it would be shown. */
const hidesPassword = ({ username, pathname, search, hash }: URL): boolean =>
  username === '' && /@/.test(pathname + search + hash)

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const forShell = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
