/** HTTP handlers of the audit log; `dispatch.ts` writes it. */
import { brokenAt, isHashOf, NO_HASH } from '../../observe/audit-chain.ts'
import type { AuditEntry } from '../../store/contract/audit-log.ts'
import { inSteps, yieldToEventLoop } from '../../time/in-steps.ts'
import type { Steps } from '../../time/steps.ts'
import * as contract from '../contract/audit.ts'
import { DEFAULT_LIMIT, PAGE_BYTES } from '../contract/vocabulary.ts'
import { fromCursor, toCursor } from '../cursor.ts'
import { mapInSlices } from '../in-slices.ts'
import type { Parts } from '../parts.ts'
import { visible } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'
import { shows } from '../shown.ts'

const PAGE = 200
/** Yields after every entry: an entry may contain two payloads of maximum size, which take long to parse. */
const WALK_BYTES = 131_072

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
      const data = await mapInSlices(entries, (entry) => shown.audited(entry, { principal, include }))
      return ok({ data, page: { next, hasMore } })
    }),
    route(contract.getAuditHead, async () => {
      const { auditLog } = await core.store()
      const [newest] = await auditLog.list({ limit: 1 })
      return ok(
        newest
          ? { entries: newest.seq, at: new Date(newest.at), hash: newest.hash }
          : { entries: 0, at: null, hash: NO_HASH },
      )
    }),
    route(contract.verifyAudit, async ({ query: { expect } }) => {
      const { auditLog } = await core.store()
      let [entries, hash] = [0, NO_HASH]
      let expectedAt = expect !== undefined && isHashOf({ hash }, expect) ? 0 : null
      for (;;) {
        await yieldToEventLoop()
        const page = await auditLog.walk({ afterSeq: entries, limit: PAGE, maxBytes: WALK_BYTES })
        const broken = await inSteps(findingBreak(page, hash))
        // Entries after a break prove nothing.
        const sound = broken === null ? page : page.filter(({ seq }) => seq < broken)
        if (expect !== undefined) expectedAt ??= sound.find((entry) => isHashOf(entry, expect))?.seq ?? null
        hash = sound.at(-1)?.hash ?? hash
        if (broken !== null) return ok({ entries: entries + page.length, brokenAt: broken, hash, expectedAt })
        entries += page.length
        if (page.length === 0) return ok({ entries, brokenAt: null, hash, expectedAt })
      }
    }),
  ]
}

/** Iterates over the entries. */
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
