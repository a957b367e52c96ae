/** Authenticates a request: by API key, session cookie, completion token, the host's `authorize`, or as local on an open server. `principal.ts` decides what the caller may do. */

import { printable } from '../printable.ts'
import { isCompletionToken } from '../run/completion-token.ts'
import { tokenReader } from '../scheduler/complete.ts'
import type { Clock } from '../time/clock.ts'
import { completeRun } from './contract/runs.ts'
import { createGuesses, WRONG_SESSIONS } from './guesses.ts'
import type { Key } from './keys.ts'
import type { Operation } from './operation.ts'
import type { Parts } from './parts.ts'
import type { Principal } from './principal.ts'
import { Refusal } from './problem.ts'
import { readAuthResult } from './settings.ts'

export const SESSION_COOKIE = 'everytick_session'
/** A page of another origin cannot send this header without a CORS preflight. */
export const CSRF_HEADER = 'x-everytick'

/** A scraper times out after ten seconds, and collecting the metrics takes some of them. */
const WAIT_LIMIT_MS = 2000

/** The parts of a request that a credential may be limited to. */
export interface Purpose {
  readonly operation: Pick<Operation, 'id' | 'withoutStore'>
  readonly params: Readonly<Record<string, string>>
}

export type Authenticate = (request: Request, address: string, purpose?: Purpose) => Promise<Principal | null>

/** Not bound to a workspace, because the token is bound to one run. Sees no more than a reader: see `routes/runs.ts`. */
const HOLDER: Principal = { name: 'completion token', scope: 'operate', workspace: null, keyId: null }

/** Returns null for a request without credentials; throws for invalid ones. */
export function authenticator(parts: Parts, clock: Clock): Authenticate {
  const { keys, sessions, settings, keyGuesses } = parts
  const sessionGuesses = createGuesses(clock, WRONG_SESSIONS)
  const readToken = tokenReader(parts.core)

  /** Limits only wrong keys: behind a proxy all callers share one address, and one guesser would lock out all of them. */
  const wrong = (waitSeconds: number): Refusal => {
    if (waitSeconds > 0) return tooMany(waitSeconds)
    return new Refusal('UNAUTHENTICATED', 'the API key is invalid, expired or revoked', {
      hint: 'check the key, or create another with: everytick keys create',
      headers: { 'www-authenticate': 'Bearer' },
    })
  }

  /** Completion tokens are checked before `authorize`, because the host does not know them. */
  const holder = async (token: string, { params }: Purpose): Promise<Principal | null> => {
    const runId = params.id ?? ''
    const attempt = await readToken(runId, token)
    return attempt === null ? null : { ...HOLDER, attempt: { ...attempt, runId } }
  }

  /** While the database is down, operations that work without it accept keys that were valid when it last responded. */
  const keyOf = async (token: string, purpose: Purpose | undefined): Promise<Key | null> => {
    if (!purpose?.operation.withoutStore) return keys.check(token)
    let forget = (): void => {}
    const late = new Promise<never>((_, reject) => {
      const refusal = new Refusal('UNAVAILABLE', 'the server cannot check API keys at the moment')
      forget = parts.core.timers.set(WAIT_LIMIT_MS, () => reject(refusal))
    })
    try {
      return await Promise.race([keys.check(token), late])
    } catch (error) {
      const key = keys.lastKnown(token)
      if (!key) throw error
      return key
    } finally {
      forget()
    }
  }

  return async (request, address, purpose) => {
    const bearer = bearerOf(request)
    if (bearer !== undefined && isCompletionToken(bearer) && purpose?.operation.id === completeRun.id) {
      const principal = await holder(bearer, purpose)
      if (!principal) throw wrong(keyGuesses.wrong(address))
      return principal
    }
    if (settings.authorize) {
      const authResult = readAuthResult(await settings.authorize(request))
      return authResult && { ...authResult, keyId: null }
    }
    if (bearer !== undefined) {
      const { found, waitSeconds } = await keyGuesses.check({
        address,
        isKnown: () => keys.isListed(bearer),
        find: () => keyOf(bearer, purpose),
      })
      if (!found) throw wrong(waitSeconds)
      return principalOf(found)
    }
    const secret = cookieOf(request, SESSION_COOKIE)
    if (secret !== undefined && settings.access === 'keys') {
      const { found, waitSeconds } = await sessionGuesses.check({
        address,
        // Without a client address, every session may be valid.
        isKnown: () => address === '' || sessions.isSeen(secret),
        find: () => sessions.check(secret),
      })
      if (waitSeconds > 0) throw tooMany(waitSeconds)
      if (!found) return null
      refuseOtherSites(request)
      return { ...principalOf(found.key), sessionId: found.id }
    }
    if (settings.access !== 'open') return null
    refuseRebinding(request)
    refuseForeignOrigin(request)
    return { name: 'local', scope: 'admin', workspace: null, keyId: null }
  }
}

export const bearerOf = (request: Request): string | undefined =>
  /^Bearer\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]

/** The name goes into revisions and logs; old names may contain invisible characters. */
const principalOf = ({ id, name, scope, workspace }: Key): Principal => ({
  ...{ name: printable(name), scope, workspace, keyId: id },
})

export const tooMany = (seconds: number): Refusal =>
  new Refusal('RATE_LIMITED', `too many requests; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })

export function cookieOf(request: Request, name: string): string | undefined {
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}

const changes = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD'

/** Browsers send the cookie from any page; only our own page can send the header. */
function refuseOtherSites(request: Request): void {
  if (!changes(request)) return
  refuseForeignOrigin(request)
  if (request.headers.get(CSRF_HEADER) === null)
    throw new Refusal('CROSS_SITE', `a request with a session cookie requires the header ${CSRF_HEADER}`)
}

export function refuseForeignOrigin(request: Request): void {
  if (!changes(request)) return
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  const foreign = origin !== null && (!URL.canParse(origin) || new URL(origin).host !== request.headers.get('host'))
  if (foreign || (site !== null && site !== 'same-origin' && site !== 'none'))
    throw new Refusal('CROSS_SITE', 'the request comes from a page of another origin')
}

/** Prevents DNS rebinding: a foreign host name that resolves here would make any page same-origin. */
function refuseRebinding(request: Request): void {
  const host = (request.headers.get('host') ?? new URL(request.url).host).replace(/:\d+$/, '')
  if (['localhost', '127.0.0.1', '[::1]'].includes(host.toLowerCase())) return
  throw new Refusal('CROSS_SITE', 'a server without API keys accepts only requests to localhost', {
    hint: 'use http://localhost, or start the server with API keys',
  })
}
