/** Executes bulk operations step by step. Each step is recorded before the next, so that any node can continue. */
import type { Document } from '../../store/contract/documents.ts'
import type { Store } from '../../store/contract/store.ts'
import { actingBound } from '../../workspace/acting.ts'
import type { BackgroundTask } from '../background-tasks.ts'
import type { Parts } from '../parts.ts'
import { advanced, nextOf, type Progress, stateOf } from './bulk.ts'
import { step } from './step.ts'

const BACKOFF_MS = 1000

export function operating({ app, ending }: Pick<Parts, 'app' | 'ending'>): BackgroundTask {
  /** The operation that had the last turn: turns keep a long or failing operation from delaying the others. */
  let last: string | undefined

  const next = async ({ documents }: Store): Promise<Document | undefined> => {
    const page = { state: 'running', limit: 1 }
    const [found] = last === undefined ? [] : await documents.list('operation', { ...page, after: last })
    return found ?? (await documents.list('operation', page))[0]
  }
  return {
    name: 'server-operations',
    // One step per pass, so that the lease is checked in between.
    async pass(store) {
      const document = await next(store)
      last = document?.id
      if (!document) return BACKOFF_MS
      await carryOn(app, store, { document, ending })
      return 0
    },
  }
}

interface Carried {
  readonly document: Document
  readonly ending: AbortSignal
}

async function carryOn(app: Parts['app'], store: Store, { document, ending }: Carried): Promise<void> {
  const { id, workspace, version, createdAt: askedAt } = document
  const goesOn = async (): Promise<boolean> =>
    !ending.aborted && (await store.documents.get('operation', id))?.version === version
  const place = { app, store, id, workspace: workspace === '' ? null : workspace, askedAt, goesOn }
  // With the quotas of the requester.
  const { more, ...progress } = await actingBound(workspace !== '', () => step(place, stateOf(document)))
  const state = advanced(stateOf(document), progress)
  const finishedAt = more ? null : await store.now()
  const noted = await store.documents.put(nextOf(document, more ? 'running' : 'done', { ...state, finishedAt }))
  if (!noted) await addToCancelled(store, document, progress)
}

/** If the operation was cancelled during a step, it stays cancelled, and the changes of the step are counted. */
async function addToCancelled({ documents }: Store, before: Document, progress: Progress): Promise<void> {
  const found = await documents.get('operation', before.id)
  // Otherwise another node executed the same step and counted it.
  if (found?.state !== 'cancelled' || found.version !== before.version + 1) return
  await documents.put(nextOf(found, 'cancelled', advanced(stateOf(found), progress)))
}
