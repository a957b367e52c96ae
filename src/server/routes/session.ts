/** Signs browsers in and out. */
import { cookieOf, guessesOf, refuseForeignOrigin, SESSION_COOKIE, tooMany } from '../authenticate.ts'
import * as contract from '../contract/session.ts'
import type { Parts } from '../parts.ts'
import { Refusal } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'
import { throttle } from '../throttle.ts'

/** Wrong keys from one address: ten at once, then ten a minute. */
const FAILURES = { burst: 10, perSecond: 10 / 60 }

export function sessionRoutes({ core, keys, sessions, settings }: Parts): readonly Route[] {
  const failures = throttle(core.clock, FAILURES)
  const guarded = async <T>(address: string, check: () => Promise<T | null>): Promise<T> => {
    const found = await check()
    if (found) return found
    const seconds = guessesOf(failures, address)
    if (seconds > 0) throw tooMany(seconds)
    failures.take(address)
    throw new Refusal('UNAUTHENTICATED', 'this is not in force', {
      hint: 'it may be mistyped, used, expired or revoked',
    })
  }
  const cookie = (request: Request, value: string, seconds: number): string => {
    const secure = new URL(request.url).protocol === 'https:' || request.headers.get('x-forwarded-proto') === 'https'
    const path = settings.basePath === '' ? '/' : settings.basePath
    return `${SESSION_COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  }

  return [
    route(contract.signIn, async ({ body, request, address }) => {
      refuseForeignOrigin(request)
      const key = await guarded(address, () => keys.check(body.key))
      const { name, scope, workspace } = key
      const secret = await sessions.begin(key)
      return ok({ name, scope, workspace }, { 'set-cookie': cookie(request, secret, 12 * 3600) })
    }),
    route(contract.whoAmI, async ({ principal: { name, scope, workspace } }) => ok({ name, scope, workspace })),
    route(contract.signOut, async ({ request }) => {
      refuseForeignOrigin(request)
      const secret = cookieOf(request, SESSION_COOKIE)
      if (secret !== undefined) await sessions.end(secret)
      return { status: 204, headers: { 'set-cookie': cookie(request, '', 0) } }
    }),
  ]
}
