/** Shows the audit log and checks its chain; what is written to it is decided by `dispatch.ts`. */
import { brokenAt } from '../../observe/audit-chain.ts'
import type { AuditEntry } from '../../store/contract/audit-log.ts'
import { inSteps } from '../../time/in-steps.ts'
import type { Steps } from '../../time/steps.ts'
import * as contract from '../contract/audit.ts'
import { DEFAULT_LIMIT } from '../contract/vocabulary.ts'
import { fromCursor, pageOf } from '../cursor.ts'
import type { Parts } from '../parts.ts'
import { visible } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'

/** An entry may hold two payloads, each as large as one may be. */
const PAGE = 4
const FIRST_HASH = '0'.repeat(64)

export function auditRoutes({ core }: Parts): readonly Route[] {
  return [
    route(contract.listAudit, async ({ query, principal }) => {
      const { limit = DEFAULT_LIMIT, cursor } = query
      const before = fromCursor(cursor, isSeq)
      const { auditLog } = await core.store()
      const found = await auditLog.list({
        ...visible(principal, query.workspace),
        limit: limit + 1,
        ...(before ? { before: before.seq } : {}),
      })
      const item = (entry: AuditEntry) => ({ ...entry, at: new Date(entry.at) })
      return ok(pageOf(found, limit, { item, position: ({ seq }) => ({ seq }) }))
    }),
    route(contract.verifyAudit, async () => {
      const { auditLog } = await core.store()
      let [entries, previous] = [0, FIRST_HASH]
      for (;;) {
        const page = await auditLog.walk({ afterSeq: entries, limit: PAGE })
        const broken = await inSteps(findingBreak(page, previous))
        if (broken !== null) return ok({ entries: entries + page.length, brokenAt: broken })
        entries += page.length
        previous = page.at(-1)?.hash ?? previous
        if (page.length < PAGE) return ok({ entries, brokenAt: null })
      }
    }),
  ]
}

/** One entry after another. */
function* findingBreak(page: readonly AuditEntry[], previousHash: string): Steps<number | null> {
  let previous = previousHash
  for (const entry of page) {
    yield
    const broken = brokenAt([entry], previous)
    if (broken !== null) return broken
    previous = entry.hash
  }
  return null
}

const isSeq = (value: unknown): value is { readonly seq: number } =>
  Number.isSafeInteger((value as { seq?: unknown } | null)?.seq)
