/** Carries bulk work on, step by step; each step is on record before the next, so that any node can go on where another ended. */
import type { Document } from '../../store/contract/documents.ts'
import type { Store } from '../../store/contract/store.ts'
import { actingBound } from '../../workspace/acting.ts'
import type { BackgroundTask } from '../background-tasks.ts'
import type { Parts } from '../parts.ts'
import { advanced, nextOf, type Progress, stateOf } from './bulk.ts'
import { step } from './step.ts'

const BACKOFF_MS = 1000

export function operating({ app, ending }: Pick<Parts, 'app' | 'ending'>): BackgroundTask {
  /** Whose turn it was: a long one does not hold up a short one, nor one that fails the others. */
  let last: string | undefined

  const next = async ({ documents }: Store): Promise<Document | undefined> => {
    const page = { state: 'running', limit: 1 }
    const [found] = last === undefined ? [] : await documents.list('operation', { ...page, after: last })
    return found ?? (await documents.list('operation', page))[0]
  }
  return {
    name: 'server-operations',
    // One step a pass, so that the lease is looked at in between.
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
  // Under the quotas of whoever asked for it.
  const { more, ...progress } = await actingBound(workspace !== '', () => step(place, stateOf(document)))
  const state = advanced(stateOf(document), progress)
  const finishedAt = more ? null : await store.now()
  const noted = await store.documents.put(nextOf(document, more ? 'running' : 'done', { ...state, finishedAt }))
  if (!noted) await addToCancelled(store, document, progress)
}

/** Cancelled in the middle of a step: it stays so, and what the step had done is counted. */
async function addToCancelled({ documents }: Store, before: Document, progress: Progress): Promise<void> {
  const found = await documents.get('operation', before.id)
  // Otherwise another node did the same step, and counted it.
  if (found?.state !== 'cancelled' || found.version !== before.version + 1) return
  await documents.put(nextOf(found, 'cancelled', advanced(stateOf(found), progress)))
}
