/** Shows the audit log and checks its chain; what is written to it is decided by `dispatch.ts`. */
import { brokenAt } from '../../observe/audit-chain.ts'
import * as contract from '../contract/audit.ts'
import { DEFAULT_LIMIT, PAGE_BYTES } from '../contract/vocabulary.ts'
import { fromCursor, toCursor } from '../cursor.ts'
import { mapInTurns } from '../in-turns.ts'
import type { Parts } from '../parts.ts'
import { visible } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'
import { shows } from '../shown.ts'

const PAGE = 1000
const FIRST_HASH = '0'.repeat(64)

export function auditRoutes(parts: Parts): readonly Route[] {
  const { core } = parts
  const shown = shows(parts)

  return [
    route(contract.listAudit, async ({ query, principal }) => {
      const { limit = DEFAULT_LIMIT, cursor, include = [] } = query
      const before = fromCursor(cursor, isSeq)
      const { auditLog } = await core.store()
      const { entries, hasMore } = await auditLog.page({
        ...visible(principal, query.workspace),
        ...{ limit, maxBytes: PAGE_BYTES },
        ...(before ? { before: before.seq } : {}),
      })
      const last = entries.at(-1)
      const next = hasMore && last ? toCursor({ seq: last.seq }) : null
      const data = await mapInTurns(entries, (entry) => shown.audited(entry, { principal, include }))
      return ok({ data, page: { next, hasMore } })
    }),
    route(contract.verifyAudit, async () => {
      const { auditLog } = await core.store()
      let [entries, previous] = [0, FIRST_HASH]
      for (;;) {
        const page = await auditLog.walk({ afterSeq: entries, limit: PAGE })
        const broken = brokenAt(page, previous)
        if (broken !== null) return ok({ entries: entries + page.length, brokenAt: broken })
        entries += page.length
        previous = page.at(-1)?.hash ?? previous
        if (page.length < PAGE) return ok({ entries, brokenAt: null })
      }
    }),
  ]
}

const isSeq = (value: unknown): value is { readonly seq: number } =>
  Number.isSafeInteger((value as { seq?: unknown } | null)?.seq)
