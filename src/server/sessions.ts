/** A signed-in browser: a random text in a cookie that stands for a key, and ends with it; the cookie never holds the key. */
import { createHash, randomBytes } from 'node:crypto'
import type { Core } from '../scheduler/core.ts'
import type { Key, Keys } from './keys.ts'

export interface Session {
  /** A hash of its secret. */
  readonly id: string
  readonly key: Key
}

export interface Sessions {
  /** Answers the text of the cookie. */
  begin(key: Key): Promise<string>
  check(secret: string): Promise<Session | null>
  /** Whether this process has seen it in force; asks the store nothing. */
  isSeen(secret: string): boolean
  /** The same by the id of the session. */
  find(id: string): Promise<Session | null>
  end(secret: string): Promise<void>
  /** A link that makes the first key, once; answers its secret. */
  invite(): Promise<string>
  /** Whether this was such a link, and nobody used it before. */
  accept(secret: string): Promise<boolean>
}

const SESSION_MS = 12 * 3_600_000
const INVITE_MS = 15 * 60_000
const MAX_SEEN = 10_000

const idOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')
const newSecret = (): string => randomBytes(32).toString('base64url')

export function createSessions(core: Core, keys: Keys): Sessions {
  const documents = async () => (await core.store()).documents
  const seen = new Set<string>()
  const note = (id: string): void => {
    seen.delete(id)
    seen.add(id)
    const [oldest] = seen
    if (seen.size > MAX_SEEN) seen.delete(oldest!)
  }
  const find = async (id: string): Promise<Session | null> => {
    const found = await (await documents()).get('session', id)
    const key = found && (await keys.inForce((found.data as { keyId: string }).keyId))
    if (!key) seen.delete(id)
    else note(id)
    return key && { id, key }
  }
  return {
    find,
    isSeen: (secret) => seen.has(idOf(secret)),
    async begin(key) {
      const secret = newSecret()
      const session = { kind: 'session', id: idOf(secret), workspace: key.workspace ?? '', state: '' } as const
      await (await documents()).put({ ...session, data: { keyId: key.id }, from: 0, forMs: SESSION_MS })
      note(session.id)
      return secret
    },
    check: (secret) => find(idOf(secret)),
    async end(secret) {
      await (await documents()).remove('session', idOf(secret))
    },
    async invite() {
      const secret = newSecret()
      const invite = { kind: 'invite', id: idOf(secret), workspace: '', state: '' } as const
      await (await documents()).put({ ...invite, data: {}, from: 0, forMs: INVITE_MS })
      return secret
    },
    // Removing answers to one caller only that it was there.
    accept: async (secret) => (await documents()).remove('invite', idOf(secret)),
  }
}
