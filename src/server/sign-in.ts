/** Signs a browser in with a key: guesses are limited, a session begins, its cookie is written. The route and the page both use it. */
import { refuseForeignOrigin, SESSION_COOKIE, tooMany } from './authenticate.ts'
import type { Key } from './keys.ts'
import type { Parts } from './parts.ts'
import { Refusal } from './problem.ts'

const SESSION_SECONDS = 12 * 3600

export interface SignIn {
  /** The key and the cookie of its new session; refused for a wrong key, and for a page of another site. */
  begin(request: Request, token: string, address: string): Promise<{ readonly key: Key; readonly cookie: string }>
  /** A cookie that takes the browser's away. */
  expired(request: Request): string
}

export function createSignIn({ keys, sessions, settings, keyGuesses }: Parts): SignIn {
  const cookieText = (request: Request, value: string, seconds: number): string => {
    // Of several proxies, the first is the one that the browser speaks to.
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
