/** Decides who sends a request: by key, by the cookie of a session, by the token of a run, by what the host says, or by standing in front of an open server; what they may do is `principal.ts`. */

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
/** A page of another site cannot send it without asking first. */
export const CSRF_HEADER = 'x-everytick'

/** A scraper waits for its answer no longer than ten seconds, and the figures take some of them. */
const WAIT_LIMIT_MS = 2000

/** What is asked for, as far as a credential may be good for that alone. */
export interface Purpose {
  readonly operation: Pick<Operation, 'id' | 'withoutStore'>
  readonly params: Readonly<Record<string, string>>
}

export type Authenticate = (request: Request, address: string, purpose?: Purpose) => Promise<Principal | null>

/** Of every workspace, since the token is of one run; and shown no more than readers are, see `routes/runs.ts`. */
const HOLDER: Principal = { name: 'completion token', scope: 'operate', workspace: null, keyId: null }

/** Null when nothing was said about who asks; refused when what was said is wrong. */
export function authenticator(parts: Parts, clock: Clock): Authenticate {
  const { keys, sessions, settings, keyGuesses } = parts
  const sessionGuesses = createGuesses(clock, WRONG_SESSIONS)
  const readToken = tokenReader(parts.core)

  /** Only wrong keys wait: behind a proxy all callers have one address, and one guesser would lock out all. */
  const wrong = (waitSeconds: number): Refusal => {
    if (waitSeconds > 0) return tooMany(waitSeconds)
    return new Refusal('UNAUTHENTICATED', 'the API key is invalid, expired or revoked', {
      hint: 'check the key, or create another with: everytick keys create',
      headers: { 'www-authenticate': 'Bearer' },
    })
  }

  /** Whoever was handed a run shows its token, which a host cannot know of. */
  const holder = async (token: string, { params }: Purpose): Promise<Principal | null> => {
    const runId = params.id ?? ''
    const attempt = await readToken(runId, token)
    return attempt === null ? null : { ...HOLDER, attempt: { ...attempt, runId } }
  }

  /** While the store is away, what works without it is shown to keys that were good when it last answered. */
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
        // Of an address that is not known, every session may be good.
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

/** Its name goes into revisions and logs; one from before it was checked may hold characters that do not show. */
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

/** Browsers send the cookie along whoever made the page; only our own page sends the header. */
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

/** A name that leads here from outside would make every page of the world one of ours. */
function refuseRebinding(request: Request): void {
  const host = (request.headers.get('host') ?? new URL(request.url).host).replace(/:\d+$/, '')
  if (['localhost', '127.0.0.1', '[::1]'].includes(host.toLowerCase())) return
  throw new Refusal('CROSS_SITE', 'a server without API keys accepts only requests to localhost', {
    hint: 'use http://localhost, or start the server with API keys',
  })
}
