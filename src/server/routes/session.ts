/** HTTP handlers of browser sessions. */
import { cookieOf, refuseForeignOrigin, SESSION_COOKIE } from '../authenticate.ts'
import * as contract from '../contract/session.ts'
import type { Parts } from '../parts.ts'
import { ok, type Route, route } from '../route.ts'
import type { SignIn } from '../sign-in.ts'

export function sessionRoutes({ sessions }: Parts, signIn: SignIn): readonly Route[] {
  return [
    route(contract.signIn, async ({ body, request, address }) => {
      const { key, cookie } = await signIn.begin(request, body.key, address)
      const { name, scope, workspace } = key
      return ok({ name, scope, workspace }, { 'set-cookie': cookie })
    }),
    route(contract.whoAmI, async ({ principal: { name, scope, workspace } }) => ok({ name, scope, workspace })),
    route(contract.signOut, async ({ request }) => {
      refuseForeignOrigin(request)
      const secret = cookieOf(request, SESSION_COOKIE)
      if (secret !== undefined) await sessions.end(secret)
      return { status: 204, headers: { 'set-cookie': signIn.expired(request) } }
    }),
  ]
}
