/** Parses the address of a store and opens the store; `store/contract/` defines what a store does. */
import { didYouMean } from './did-you-mean.ts'
import { EverytickError, shown } from './errors.ts'
import { refused } from './options.ts'
import { readPostgresAddress } from './store/address-text.ts'
import type { Store } from './store/contract/store.ts'
import type { Clock } from './time/clock.ts'

/** `sqlite:./everytick.db`, `sqlite::memory:`, `postgres://user@host/database`, or a store opened elsewhere. */
export type StoreOption = string | Store

export type StoreAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema?: string }

const HINT = 'write it like sqlite:./everytick.db or postgres://user@host/database'

/** Error messages never contain the address, because it may contain a password. */
export function readStoreAddress(text: string): StoreAddress {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'sqlite') return { kind: 'sqlite', path: sqlitePath(text.slice('sqlite:'.length)) }
  if (scheme === 'postgres' || scheme === 'postgresql') return postgresAddress(text)
  // A Windows drive letter looks like a scheme.
  if (scheme === undefined || scheme.length === 1) {
    const hint = /\.(?:db|sqlite3?)$/.test(text) ? 'put sqlite: in front of the path' : HINT
    throw new EverytickError('STORE_URL_INVALID', 'the store address does not begin with sqlite: or postgres:', {
      hint,
    })
  }
  const near = didYouMean(scheme, ['sqlite', 'postgres', 'postgresql'])
  // Shows the scheme only when it is a known word: text before a colon may be part of a password.
  const named =
    near || OTHER_KINDS.has(scheme)
      ? `"${scheme}:" is not a supported store`
      : 'the store address does not begin with sqlite: or postgres:'
  throw new EverytickError('STORE_URL_INVALID', named, {
    hint: near ? `did you mean ${near}:?` : HINT,
  })
}

const OTHER_KINDS: ReadonlySet<string> = new Set([
  'mysql',
  'mariadb',
  'mongodb',
  'redis',
  'mssql',
  'http',
  'https',
  'file',
  'oracle',
])

function sqlitePath(rest: string): string {
  // sqlite://./x.db and sqlite:///var/x.db are common spellings of sqlite:./x.db and sqlite:/var/x.db.
  const path = rest.startsWith('//') ? rest.slice(2) : rest
  if (path !== '' && !path.includes('\0') && !/^[a-z][a-z0-9+.-]*:.*@/is.test(path)) return path
  throw new EverytickError('STORE_URL_INVALID', 'the sqlite: address contains no file path', { hint: HINT })
}

function postgresAddress(text: string): StoreAddress {
  const { schema } = readPostgresAddress(text).settings
  return { kind: 'postgres', url: text, ...(schema === undefined ? {} : { schema }) }
}

/** Rejects early what `openStore` could not open. */
export function checkStore(store: unknown): StoreOption {
  if (typeof store === 'string') {
    readStoreAddress(store)
    return store
  }
  if (isStore(store)) return store
  throw refused(`store must be an address or an open store, not ${shown(store)}`, HINT)
}

const isStore = (value: unknown): value is Store =>
  typeof value === 'object' && value !== null && 'claims' in value && 'planning' in value && 'now' in value

export interface OpenOptions {
  readonly clock: Clock
  readonly migrate: boolean
}

/** Loads only the store that the address names, so that the driver of the other need not be installed. */
export async function openStore(address: string, { clock, migrate }: OpenOptions): Promise<Store> {
  const read = readStoreAddress(address)
  if (read.kind === 'sqlite') {
    const { openSqlite } = await import('./store/sqlite/store.ts')
    return openSqlite({ path: read.path, clock, migrate })
  }
  const { openPostgres } = await import('./store/postgres/store.ts')
  const { url, schema } = read
  return openPostgres({ url, migrate, ...(schema === undefined ? {} : { schema }) })
}
