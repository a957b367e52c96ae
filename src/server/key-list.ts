/** Caches the list of API keys: reads it at most once in two seconds, for any number of requests. */
import type { Core } from '../scheduler/core.ts'
import type { Document } from '../store/contract/documents.ts'

export interface KeyList {
  /** Whether the list has a key with this id for which `fits` returns true. */
  has(id: string, fits: (found: Document) => boolean): Promise<boolean>
}

const FRESH_MS = 2000
/** After this timeout the previous list is used. */
const WAIT_LIMIT_MS = 2000
const PAGE = 200
/** Only the newest keys are listed; for an older one, the address must wait until it may guess again. */
const MAX_KEYS = 10_000

export function createKeyList({ clock, timers, store }: Pick<Core, 'clock' | 'timers' | 'store'>): KeyList {
  let keys: ReadonlyMap<string, Document> = new Map()
  let readAt: number | null = null
  let reading: Promise<void> | null = null

  const read = async (): Promise<void> => {
    readAt = clock.elapsed()
    const { documents } = await store()
    const found = new Map<string, Document>()
    for (let after: string | undefined; found.size < MAX_KEYS; ) {
      const page = await documents.list('key', { limit: PAGE, ...(after === undefined ? {} : { after }) })
      for (const key of page) found.set(key.id, key)
      after = page.at(-1)?.id
      if (page.length < PAGE) break
    }
    keys = found
  }
  const refresh = (): Promise<void> | null => {
    if (reading === null && (readAt === null || clock.elapsed() - readAt >= FRESH_MS))
      reading = read()
        // Use the previous list.
        .catch(() => {})
        .finally(() => {
          reading = null
        })
    return reading
  }
  const inTime = async (work: Promise<void>): Promise<void> => {
    let forget = (): void => {}
    const late = new Promise<void>((resolve) => {
      forget = timers.set(WAIT_LIMIT_MS, resolve)
    })
    await Promise.race([work, late])
    forget()
  }

  return {
    async has(id, fits) {
      const isThere = (): boolean => {
        const found = keys.get(id)
        return found !== undefined && fits(found)
      }
      if (isThere()) return true
      const work = refresh()
      if (work) await inTime(work)
      return isThere()
    },
  }
}
