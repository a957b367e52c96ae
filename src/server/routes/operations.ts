/** HTTP handlers of bulk operations; `operations/operating.ts` executes them. */
import type { Document } from '../../store/contract/documents.ts'
import * as contract from '../contract/operations.ts'
import { DEFAULT_LIMIT } from '../contract/vocabulary.ts'
import { listPage } from '../list-page.ts'
import { begun, bulkBody as bodyOf, nextOf, stateOf } from '../operations/bulk.ts'
import type { Parts } from '../parts.ts'
import { type Principal, sees, visible } from '../principal.ts'
import { notFound, Refusal } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'
import { runningWork } from '../running-work.ts'
import { shownWords } from '../shown.ts'

/** The limit per workspace, because active operations of all workspaces share the steps in turn. */
const MAX_RUNNING = 10

/** Its failures contain only error texts. */
const bulkBody = (document: Document) => shownWords(bodyOf(document))

const ADDS_RUNS: ReadonlySet<string> = new Set(['schedules.trigger', 'runs.retry'])

export function operationRoutes({ core }: Parts): readonly Route[] {
  const documents = async () => (await core.store()).documents
  const known = async (principal: Principal, id: string): Promise<Document> => {
    const found = await (await documents()).get('operation', id)
    if (found && sees(principal, found.workspace)) return found
    throw notFound(`operation ${id}`)
  }
  const beginWork = runningWork({
    what: 'bulk operations',
    limit: MAX_RUNNING,
    count: async (workspace, limit) =>
      (await (await documents()).list('operation', { workspace, state: 'running', limit })).length,
  })

  return [
    route(contract.createOperation, async ({ body, principal, base, newId: id, interrupted }) => {
      visible(principal, body.filter.workspace)
      if (Object.values(body.filter).every((value) => value === undefined))
        throw new Refusal('REQUEST_INVALID', '/filter: is empty, which would select everything', {
          errors: [{ pointer: '/filter', hint: 'give a filter, or all: true to select everything' }],
        })
      const workspace = principal.workspace ?? ''
      const store = await documents()
      // Refused if the quota has no room for a single run; each run is checked again when it is created.
      const draws = ADDS_RUNS.has(body.action) && workspace !== '' ? [{ workspace, pendingRuns: 1 }] : []
      const put = () =>
        core.quotas.within(
          () => draws,
          () => store.put(nextOf({ id, workspace, version: 0 }, 'running', begun(body, principal.name))),
        )
      const made = interrupted ? await put() : await beginWork(principal, put)
      // A server that crashed before its response has created it.
      const operation = made ?? (await known(principal, id))
      return {
        status: 202,
        body: bulkBody(operation),
        headers: { location: `${base}/operations/${id}` },
        change: { workspace, target: `operation ${id}`, after: body },
      }
    }),
    route(contract.listOperations, async ({ query, principal }) => {
      const { state, limit = DEFAULT_LIMIT, ...wanted } = query
      const filter = { ...visible(principal, undefined), ...(state ? { state } : {}) }
      const store = await documents()
      const list = (bounds: { limit: number; after?: string }) => store.list('operation', { ...filter, ...bounds })
      const { rows, page } = await listPage({ list }, { ...wanted, limit })
      return ok({ data: rows.map(bulkBody), page })
    }),
    route(contract.getOperation, async ({ params, principal }) => ok(bulkBody(await known(principal, params.id)))),
    route(contract.cancelOperation, async ({ params, principal }) => {
      for (;;) {
        const before = await known(principal, params.id)
        const { id, workspace, state } = before
        if (state !== 'running') return { status: 200, body: bulkBody(before), change: 'none' }
        const finishedAt = await (await core.store()).now()
        const after = await (await documents()).put(nextOf(before, 'cancelled', { ...stateOf(before), finishedAt }))
        if (after)
          return {
            status: 200,
            body: bulkBody(after),
            change: { workspace, target: `operation ${id}`, after: { state: 'cancelled' } },
          }
      }
    }),
  ]
}
