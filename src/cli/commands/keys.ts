/** `everytick keys`: creates, lists, revokes and rolls API keys, on a server or directly in a database. */
import { answer, listOf } from '../answer.ts'
import type { Backend } from '../backend.ts'
import { type Change, type ChangeOptions, printPlan } from '../change.ts'
import { findId } from '../find-id.ts'
import { type Io, withBackend } from '../io.ts'
import { KEYS } from '../kinds.ts'
import type { ListOptions } from '../listing.ts'
import { printable, rowsText } from '../print.ts'
import { shortIds } from '../short-id.ts'

export type KeysOptions = ChangeOptions
export type KeysListOptions = ChangeOptions & ListOptions

export interface KeysCreateOptions extends KeysOptions {
  readonly name: string
  readonly scope: string
  readonly workspace?: string
  readonly expiresIn?: string
}

export interface KeysRollOptions extends KeysOptions {
  readonly expiresIn?: string
}

interface Key {
  readonly id: string
  readonly name: string
  readonly scope: string
  readonly workspace: string | null
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
}
interface NewKey extends Key {
  readonly token: string
}

const addressOf = async (backend: Backend, id: string): Promise<string> =>
  `/api-keys/${await findId(backend, KEYS, id)}`
const lifeOf = (expiresIn: string | undefined) => (expiresIn === undefined ? {} : { expiresIn })

export function createKey(options: KeysCreateOptions, io: Io): Promise<void> {
  const { name, scope, workspace, expiresIn } = options
  const body = { name, scope, ...(workspace === undefined ? {} : { workspace }), ...lifeOf(expiresIn) }
  return withBackend(options, async (backend) => {
    const wanted: Change = { method: 'POST', path: '/api-keys', body, words: `create the key ${name} (${scope})` }
    if (options.dryRun) return printPlan(wanted, { ...options, io })
    await showNew(await backend.ask<NewKey>('POST', wanted.path, { body }), options, io)
  })
}

/** Prints only the key to standard output, so that a script can capture it. */
async function showNew(key: NewKey, options: KeysOptions, io: Io): Promise<void> {
  await answer(key, { ...options, io }, ({ token }) => `${printable(token)}\n`)
  if (!options.json) io.note('  Save the key now: it is not shown again.\n')
}

export function listKeys(options: KeysListOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const keys = await listOf<Key>(backend, '/api-keys', { ...options, io })
    await answer(keys, { ...options, io }, (found, view) => {
      const idText = view.terminal ? shortIds(found.map(({ id }) => id)) : String
      const rows = found.map((key) => [
        ...[idText(key.id), key.name, key.scope, key.workspace ?? '-'],
        ...[key.revokedAt === null ? 'in force' : 'revoked', key.expiresAt ?? '-', key.lastUsedAt ?? '-'],
      ])
      return rowsText(['ID', 'NAME', 'SCOPE', 'WORKSPACE', 'STATE', 'EXPIRES', 'LAST USED'], rows, view)
    })
  })
}

export function revokeKey(id: string, options: KeysOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const path = await addressOf(backend, id)
    const { name } = await backend.ask<Key>('GET', path)
    if (options.dryRun)
      return printPlan({ method: 'DELETE', path, words: `revoke the key ${name}` }, { ...options, io })
    await backend.ask('DELETE', path)
    await answer(await backend.ask<Key>('GET', path), { ...options, io }, () => `revoked ${printable(name)}\n`)
  })
}

export function rollKey(id: string, options: KeysRollOptions, io: Io): Promise<void> {
  return withBackend(options, async (backend) => {
    const one = await addressOf(backend, id)
    const { name } = await backend.ask<Key>('GET', one)
    const path = `${one}/roll`
    const body = lifeOf(options.expiresIn)
    if (options.dryRun)
      return printPlan({ method: 'POST', path, body, words: `roll the key ${name}` }, { ...options, io })
    await showNew(await backend.ask<NewKey>('POST', path, { body }), options, io)
  })
}
