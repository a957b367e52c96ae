/** Browser sessions: a random token in a cookie, bound to an API key and valid as long as it. The cookie never contains the key. */
import { createHash, randomBytes } from 'node:crypto'
import type { Core } from '../scheduler/core.ts'
import type { Key, Keys } from './keys.ts'

export interface Session {
  /** A hash of the session secret. */
  readonly id: string
  readonly key: Key
}

export interface Sessions {
  /** Returns the cookie value. */
  begin(key: Key): Promise<string>
  check(secret: string): Promise<Session | null>
  /** Whether this process has seen the session as valid; does not query the store. */
  isSeen(secret: string): boolean
  /** The same by session id. */
  find(id: string): Promise<Session | null>
  end(secret: string): Promise<void>
  /** Creates a one-time invite to create the first key; returns its secret. */
  invite(): Promise<string>
  /** Whether the invite is valid and unused; uses it up. */
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
    // Only one of several concurrent removals succeeds.
    accept: async (secret) => (await documents()).remove('invite', idOf(secret)),
  }
}
