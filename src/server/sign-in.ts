/** Signs a browser in with a key: guesses are limited, a session begins, its cookie is written. The route and the page both use it. */
import { guessesOf, refuseForeignOrigin, SESSION_COOKIE, tooMany } from './authenticate.ts'
import type { Key } from './keys.ts'
import type { Parts } from './parts.ts'
import { Refusal } from './problem.ts'
import { throttle } from './throttle.ts'

/** Wrong keys from one address: ten at once, then ten a minute. */
const FAILURES = { burst: 10, perSecond: 10 / 60 }
const SESSION_SECONDS = 12 * 3600

export interface SignIn {
  /** The key and the cookie of its new session; refused for a wrong key, and for a page of another site. */
  begin(request: Request, token: string, address: string): Promise<{ readonly key: Key; readonly cookie: string }>
  /** A cookie that takes the browser's away. */
  expired(request: Request): string
}

export function createSignIn({ core, keys, sessions, settings }: Parts): SignIn {
  const failures = throttle(core.clock, FAILURES)

  const cookieText = (request: Request, value: string, seconds: number): string => {
    const secure = new URL(request.url).protocol === 'https:' || request.headers.get('x-forwarded-proto') === 'https'
    const path = settings.basePath === '' ? '/' : settings.basePath
    return `${SESSION_COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  }

  return {
    async begin(request, token, address) {
      refuseForeignOrigin(request)
      const key = await keys.check(token)
      if (key) return { key, cookie: cookieText(request, await sessions.begin(key), SESSION_SECONDS) }
      const seconds = guessesOf(failures, address)
      if (seconds > 0) throw tooMany(seconds)
      failures.take(address)
      throw new Refusal('UNAUTHENTICATED', 'the key is wrong, expired or revoked', {
        hint: 'make another with: everytick keys create',
      })
    },
    expired: (request) => cookieText(request, '', 0),
  }
}
