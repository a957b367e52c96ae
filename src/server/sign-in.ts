/** Signs a browser in with a key: limits guesses, starts a session, writes its cookie. Used by the route and the page. */
import { refuseForeignOrigin, SESSION_COOKIE, tooMany } from './authenticate.ts'
import type { Key } from './keys.ts'
import type { Parts } from './parts.ts'
import { Refusal } from './problem.ts'

const SESSION_SECONDS = 12 * 3600

export interface SignIn {
  /** Returns the key and the session cookie; refuses a wrong key and a cross-site request. */
  begin(request: Request, token: string, address: string): Promise<{ readonly key: Key; readonly cookie: string }>
  /** A cookie header that deletes the session cookie. */
  expired(request: Request): string
}

export function createSignIn({ keys, sessions, settings, keyGuesses }: Parts): SignIn {
  const cookieText = (request: Request, value: string, seconds: number): string => {
    // With several proxies, the first one is the one that the browser connects to.
    const [forwarded = ''] = (request.headers.get('x-forwarded-proto') ?? '').toLowerCase().split(',')
    const secure = new URL(request.url).protocol === 'https:' || forwarded.trim() === 'https'
    const path = settings.basePath === '' ? '/' : settings.basePath
    return `${SESSION_COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  }

  return {
    async begin(request, token, address) {
      refuseForeignOrigin(request)
      const { found: key, waitSeconds } = await keyGuesses.check({
        address,
        isKnown: () => keys.isListed(token),
        find: () => keys.check(token),
      })
      if (key) return { key, cookie: cookieText(request, await sessions.begin(key), SESSION_SECONDS) }
      if (waitSeconds > 0) throw tooMany(waitSeconds)
      throw new Refusal('UNAUTHENTICATED', 'the API key is invalid, expired or revoked', {
        hint: 'create another with: everytick keys create',
      })
    },
    expired: (request) => cookieText(request, '', 0),
  }
}
