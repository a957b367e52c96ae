/** API keys: shown once at creation, stored as a hash, found by id. `principal.ts` decides what a key may do. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Json } from '../json.ts'
import { readName } from '../options.ts'
import type { Core } from '../scheduler/core.ts'
import type { Document } from '../store/contract/documents.ts'
import { createKeyList } from './key-list.ts'
import type { Scope } from './scope.ts'

export interface Key {
  readonly id: string
  readonly name: string
  readonly scope: Scope
  /** Null: all workspaces. */
  readonly workspace: string | null
  /** The beginning of the key, for recognition. */
  readonly prefix: string
  readonly createdAt: number
  readonly createdBy: string
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

export interface NewKey extends Pick<Key, 'name' | 'scope' | 'workspace'> {
  readonly by: string
  /** Lifetime from now; null: no expiry. */
  readonly forMs: number | null
}

export interface Keys {
  /** The only call that returns the key itself. Fails if a key with this id exists. */
  create(key: NewKey, id?: string): Promise<{ readonly key: Key; readonly token: string }>
  get(id: string): Promise<Key | null>
  list(page: { readonly limit: number; readonly after?: string }): Promise<Key[]>
  /** Returns the updated key, or null if there is none. Idempotent. */
  revoke(id: string): Promise<Key | null>
  /** Returns the key to the caller that revoked it; concurrent callers get null. */
  revokeOnce(id: string): Promise<Key | null>
  /** The key for this token, if it is valid. */
  check(token: string): Promise<Key | null>
  /** Whether the token belongs to an existing key, by a list that is read at most once in two seconds. */
  isListed(token: string): Promise<boolean>
  /** The same from memory, however old; does not query the store. */
  lastKnown(token: string): Key | null
  /** The key with this id, if it is valid. */
  inForce(id: string): Promise<Key | null>
  /** Whether any valid admin key of all workspaces exists. */
  any(): Promise<boolean>
}

interface KeyData {
  readonly [field: string]: Json
  readonly name: string
  readonly scope: Scope
  readonly hash: string
  readonly prefix: string
  readonly createdBy: string
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

/** A cached key. */
interface Seen {
  readonly found: Document | null
  /** When it was read, by the monotonic clock. */
  readonly at: number
  /** The database time of that read. */
  readonly now: number
  /** This process has changed the key since, so the next use reads it again. */
  readonly isStale: boolean
}

/** This process rejects a key that was revoked elsewhere within this time. */
const FRESH_MS = 500
const USED_EVERY_MS = 60_000
const MAX_REMEMBERED = 1000
const TAGS: Record<Scope, string> = { read: 'ro', operate: 'op', admin: 'ad' }
const TOKEN = /^evt_(?:ro|op|ad)_([\w-]{22})([\w-]{43})$/
const NOBODY = Buffer.alloc(32)

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
const shortId = (id: string): string => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')
const longId = (short: string): string =>
  Buffer.from(short, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

export function createKeys(core: Core): Keys {
  const remembered = new Map<string, Seen>()
  const list = createKeyList(core)

  const remember = (id: string, seen: Seen): void => {
    remembered.delete(id)
    remembered.set(id, seen)
    const [oldest] = remembered.keys()
    if (remembered.size > MAX_REMEMBERED) remembered.delete(oldest!)
  }

  const fresh = async (id: string): Promise<Seen> => {
    const at = core.clock.elapsed()
    const known = remembered.get(id)
    if (known && !known.isStale && at - known.at < FRESH_MS) return known
    const store = await core.store()
    const [found, now] = await Promise.all([store.documents.get('key', id), store.now()])
    const seen = { found, at, now, isStale: false }
    // A guess is not cached, because it would evict real keys.
    if (found) remember(id, seen)
    return seen
  }

  const change = async (id: string, changed: (data: KeyData) => KeyData | null): Promise<Document | null> => {
    const { documents } = await core.store()
    for (;;) {
      const found = await documents.get('key', id)
      if (!found) return null
      const { workspace, state, version } = found
      const data = changed(dataOf(found))
      if (!data) return null
      const put = await documents.put({ kind: 'key', id, workspace, state, from: version, data })
      const seen = remembered.get(id)
      if (seen) remembered.set(id, { ...seen, found: put ?? seen.found, isStale: true })
      if (put) return put
    }
  }

  const inForce = ({ found, at, now }: Seen): Document | null => {
    if (!found) return null
    const { revokedAt, expiresAt } = dataOf(found)
    // By the database clock, which set the expiry; the clocks of nodes may be wrong.
    const isOver = expiresAt !== null && expiresAt <= now + (core.clock.elapsed() - at)
    return revokedAt !== null || isOver ? null : found
  }

  const idOf = (token: string): string | null => {
    const [, short] = TOKEN.exec(token) ?? []
    return short === undefined ? null : longId(short)
  }

  const matching = (token: string, found: Document | null): Document | null => {
    const expected = found ? Buffer.from(dataOf(found).hash, 'hex') : NOBODY
    // Always compare, so that a wrong id takes as long as a wrong secret.
    const fits = timingSafeEqual(Buffer.from(hashOf(token), 'hex'), expected)
    return found && fits ? found : null
  }

  /** Records the last use for display; the request does not wait for it. */
  const used = (id: string): void => {
    const seen = remembered.get(id)
    if (!seen?.found) return
    const { found, now } = seen
    const { lastUsedAt } = dataOf(found)
    if (lastUsedAt !== null && now - lastUsedAt < USED_EVERY_MS) return
    // Keep the age of the cache entry: recording a use does not check for revocation.
    remembered.set(id, { ...seen, found: { ...found, data: { ...dataOf(found), lastUsedAt: now } } })
    change(id, (data) => ({ ...data, lastUsedAt: now })).catch(() => {})
  }

  return {
    async create({ name, scope, workspace, by, forMs }, id = core.newId()) {
      // An empty workspace name is stored as the empty text, which would mean all workspaces.
      if (workspace !== null) readName(workspace, 'workspace')
      const store = await core.store()
      const token = `evt_${TAGS[scope]}_${shortId(id)}${randomBytes(32).toString('base64url')}`
      const data: KeyData = {
        ...{ name, scope, createdBy: by, lastUsedAt: null, revokedAt: null },
        hash: hashOf(token),
        prefix: token.slice(0, 17),
        expiresAt: forMs === null ? null : (await store.now()) + forMs,
      }
      const made = await store.documents.put({
        kind: 'key',
        id,
        workspace: workspace ?? '',
        state: scope,
        from: 0,
        data,
      })
      if (!made) throw new Error(`a key with id ${id} exists already`)
      return { key: keyOf(made), token }
    },
    async get(id) {
      const found = await (await core.store()).documents.get('key', id)
      return found && keyOf(found)
    },
    async list(page) {
      return (await (await core.store()).documents.list('key', page)).map(keyOf)
    },
    async revoke(id) {
      const now = await (await core.store()).now()
      const revoked = await change(id, (data) => ({ ...data, revokedAt: data.revokedAt ?? now }))
      return revoked && keyOf(revoked)
    },
    async revokeOnce(id) {
      const now = await (await core.store()).now()
      const revoked = await change(id, (data) => (data.revokedAt === null ? { ...data, revokedAt: now } : null))
      return revoked && keyOf(revoked)
    },
    async check(token) {
      const id = idOf(token)
      const found = matching(token, id === null ? null : inForce(await fresh(id)))
      if (found) used(found.id)
      return found && keyOf(found)
    },
    async isListed(token) {
      const id = idOf(token)
      return id !== null && (await list.has(id, (found) => matching(token, found) !== null))
    },
    lastKnown(token) {
      const seen = remembered.get(idOf(token) ?? '')
      const found = matching(token, seen ? inForce(seen) : null)
      return found && keyOf(found)
    },
    async inForce(id) {
      const found = inForce(await fresh(id))
      if (found) used(id)
      return found && keyOf(found)
    },
    async any() {
      const store = await core.store()
      const now = await store.now()
      const admins = await store.documents.list('key', { state: 'admin', limit: 200 })
      return admins.map(keyOf).some(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt ?? now + 1) > now)
    },
  }
}

const dataOf = (document: Document): KeyData => document.data as unknown as KeyData

function keyOf(document: Document): Key {
  const { name, scope, prefix, createdBy, expiresAt, lastUsedAt, revokedAt } = dataOf(document)
  const { id, workspace, createdAt } = document
  return {
    ...{ id, name, scope, prefix, createdAt, createdBy, expiresAt, lastUsedAt, revokedAt },
    workspace: workspace === '' ? null : workspace,
  }
}
