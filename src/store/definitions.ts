/** Reads what a schedule was, change by change, without its payloads: page by page, the same way for every store, so that large payloads are never all in memory. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Json } from '../json.ts'
import { type HistoryStore, MAX_REVISIONS, type Revision } from './contract/history.ts'

const PAGE = 500
const PAGE_BYTES = 1024 * 1024

export async function definitions(page: HistoryStore['revisionPage'], scheduleId: string): Promise<Revision[]> {
  const found: Revision[] = []
  for (let after: number | undefined; ; ) {
    const { revisions, next } = await page(scheduleId, {
      ...{ limit: PAGE, maxBytes: PAGE_BYTES },
      ...(after === undefined ? {} : { after }),
    })
    for (const { before, after, ...rest } of revisions)
      found.push({ ...rest, before: withoutPayload(before), after: withoutPayload(after) })
    if (found.length > MAX_REVISIONS) found.splice(0, found.length - MAX_REVISIONS)
    if (next === null) return found
    after = next
    // Parsing a page takes milliseconds.
    await turn()
  }
}

function withoutPayload(definition: Json): Json {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) return definition
  const { payload: _, ...rest } = definition as { readonly [field: string]: Json }
  return rest
}
