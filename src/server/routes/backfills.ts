/** HTTP handlers of backfills. */
import { type BackfillView, backfillViews } from '../../scheduler/backfills.ts'
import * as contract from '../contract/backfills.ts'
import { DEFAULT_LIMIT } from '../contract/vocabulary.ts'
import { FIRST_ID } from '../id-range.ts'
import { listPage } from '../list-page.ts'
import type { Parts } from '../parts.ts'
import { type Principal, sees, visible } from '../principal.ts'
import { notFound } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'

export function backfillRoutes({ app, core }: Parts): readonly Route[] {
  const known = async (principal: Principal, id: string): Promise<BackfillView> => {
    const found = await app.backfills.get(id)
    if (found && sees(principal, found.workspace)) return found
    throw notFound(`backfill ${id}`)
  }
  return [
    route(contract.listAllBackfills, async ({ query, principal }) => {
      const { workspace, limit = DEFAULT_LIMIT, ...wanted } = query
      const whose = visible(principal, workspace)
      const from = wanted.id?.from ?? FIRST_ID
      const list = ({ limit, after }: { limit: number; after?: string }) =>
        backfillViews(core, { ...whose, ids: { from, ...(after === undefined ? {} : { before: after }) }, limit })
      const { rows, page } = await listPage({ list }, { ...wanted, limit })
      return ok({ data: rows, page })
    }),
    route(contract.getBackfill, async ({ params, principal }) => ok(await known(principal, params.id))),
    route(contract.cancelBackfill, async ({ params, principal }) => {
      const before = await known(principal, params.id)
      const cancelled = await app.backfills.cancel(params.id, { by: principal.name })
      const body = await known(principal, params.id)
      const target = `backfill ${params.id}`
      return {
        status: 200,
        body,
        change: cancelled ? { workspace: body.workspace, target, before, after: body } : 'none',
      }
    }),
  ]
}
