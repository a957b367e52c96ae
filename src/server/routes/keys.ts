/** HTTP handlers of API keys; the server's `keys.ts` stores and checks them. */
import { readDuration } from '../../options.ts'
import * as contract from '../contract/keys.ts'
import { DEFAULT_LIMIT } from '../contract/vocabulary.ts'
import { createOnce } from '../create-once.ts'
import type { Key } from '../keys.ts'
import { listPage } from '../list-page.ts'
import type { Parts } from '../parts.ts'
import { notFound, Refusal } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))

const keyBody = (key: Key): Readonly<Record<string, unknown>> => ({
  ...key,
  createdAt: new Date(key.createdAt),
  expiresAt: dateOf(key.expiresAt),
  lastUsedAt: dateOf(key.lastUsedAt),
  revokedAt: dateOf(key.revokedAt),
})

const lifeOf = (expiresIn: string | undefined): number | null =>
  expiresIn === undefined ? null : readDuration(expiresIn, 'expiresIn', 1000)

interface MadeKey {
  readonly key: Key
  /** Null if a crashed server created the key, because only that server knew the token. */
  readonly token: string | null
}

export function keyRoutes({ core, keys }: Parts): readonly Route[] {
  const known = async (id: string): Promise<Key> => {
    const key = await keys.get(id)
    if (key) return key
    throw notFound(`key ${id}`)
  }
  const madeBefore = async (id: string): Promise<MadeKey | null> => {
    const key = await keys.get(id)
    return key && { key, token: null }
  }
  const fresh = (made: MadeKey, base: string, before?: Key) => ({
    status: 201,
    body: { ...keyBody(made.key), token: made.token },
    repeated: { ...keyBody(made.key), token: null },
    headers: { location: `${base}/api-keys/${made.key.id}` },
    change: {
      workspace: made.key.workspace ?? '',
      target: `key ${made.key.name}`,
      before: before && keyBody(before),
      after: keyBody(made.key),
    },
  })

  return [
    route(contract.listKeys, async ({ query }) => {
      const { name, limit = DEFAULT_LIMIT, ...wanted } = query
      const fits = name === undefined ? undefined : (key: Key) => key.name === name
      const { rows, page } = await listPage({ list: keys.list, fits }, { ...wanted, limit })
      return ok({ data: rows.map(keyBody), page })
    }),
    route(contract.createKey, async ({ body, principal, base, newId, interrupted }) => {
      const { name, scope, workspace = null, expiresIn } = body
      const wanted = { name, scope, workspace, by: principal.name, forMs: lifeOf(expiresIn) }
      const made = await createOnce<MadeKey>(
        { interrupted },
        () => keys.create(wanted, newId),
        () => madeBefore(newId),
      )
      return fresh(made, base)
    }),
    route(contract.getKey, async ({ params }) => ok(keyBody(await known(params.id)))),
    route(contract.revokeKey, async ({ params }) => {
      const before = await known(params.id)
      const after = await keys.revokeOnce(params.id)
      const target = `key ${before.name}`
      const change = {
        workspace: before.workspace ?? '',
        target,
        before: keyBody(before),
        after: after && keyBody(after),
      }
      return { status: 204, change: after ? change : 'none' }
    }),
    route(contract.rollKey, async ({ params, body, principal, base, newId, interrupted }) => {
      const before = await known(params.id)
      const follows = interrupted ? await madeBefore(newId) : null
      if (follows?.key.revokedAt === null) {
        await keys.revokeOnce(before.id)
        return fresh(follows, base, before)
      }
      const over = new Refusal('NOT_ACCEPTABLE_STATE', 'the key was revoked; create a new one')
      if (before.revokedAt !== null) throw over
      const { name, scope, workspace } = before
      const now = await (await core.store()).now()
      // The new key keeps the expiry of the old one, unless the request sets another.
      const left = before.expiresAt === null ? null : Math.max(1, before.expiresAt - now)
      const forMs = body.expiresIn === undefined ? left : lifeOf(body.expiresIn)
      const made = await keys.create({ name, scope, workspace, by: principal.name, forMs }, newId)
      if (await keys.revokeOnce(before.id)) return fresh(made, base, before)
      // A concurrent request rolled the key first; each key has only one successor.
      await keys.revoke(made.key.id)
      throw over
    }),
  ]
}
