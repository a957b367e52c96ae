/** Deletes rows older than their retention, in bounded steps, on one node at a time, and records its success or failure. */
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Store } from '../store/contract/store.ts'
import type { Retention } from '../store/contract/upkeep.ts'
import { markCleanup } from './cleanup-mark.ts'
import type { Leadership } from './leadership.ts'

const POLL_MS = 60_000
/** The pause between two steps, so that claims and settles never wait long for deletions. */
const PAUSE_MS = 100
/** The interval between two success records, so that an idle process rarely writes. */
const MARK_MS = 300_000

export interface JanitorOptions {
  readonly store: Pick<Store, 'upkeep' | 'documents' | 'now'>
  readonly leadership: Leadership
  readonly retention: Retention
  readonly onEvent: (fact: EngineEvent) => void
}

export function createJanitor({ store, leadership, retention, onEvent }: JanitorOptions): { pass(): Promise<number> } {
  const { upkeep, documents } = store
  let markAt = Number.NEGATIVE_INFINITY
  let failedMarkAt = Number.NEGATIVE_INFINITY
  /** Removed since the last step that found no more. */
  let count = 0

  const markFailure = async (error: unknown): Promise<void> => {
    const at = await store.now()
    if (at < failedMarkAt) return
    failedMarkAt = at + POLL_MS
    await markCleanup(documents, at, error)
  }

  return {
    async pass() {
      if (!(await leadership.leads())) return POLL_MS
      try {
        const { removed, more } = await upkeep.tidy(retention)
        count += removed
        const at = await store.now()
        if (at >= markAt) {
          await markCleanup(documents, at, null)
          markAt = at + MARK_MS
        }
        if (more) return PAUSE_MS
        if (count > 0) onEvent({ kind: 'retention.removed', count })
        count = 0
        return POLL_MS
      } catch (error) {
        markAt = Number.NEGATIVE_INFINITY
        // Where nothing can be written, this cannot either: then the age of the last mark tells.
        await markFailure(error).catch(() => {})
        throw error
      }
    },
  }
}
