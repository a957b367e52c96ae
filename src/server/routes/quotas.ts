/** HTTP handler of quotas; a bound key sees those of its workspace. */
import * as contract from '../contract/quotas.ts'
import type { Parts } from '../parts.ts'
import { home } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'

export function quotaRoutes({ core }: Pick<Parts, 'core'>): readonly Route[] {
  return [
    route(contract.listQuotas, async ({ query, principal }) => {
      const workspace = home(principal, query.workspace)
      return ok({ workspace, data: await core.quotas.usage(workspace) })
    }),
  ]
}
