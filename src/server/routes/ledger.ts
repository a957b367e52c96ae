/** HTTP handler of the ledger: runs the scheduler's audit, a few at once, and skips callers that have disconnected. */
import { audit } from '../../scheduler/audit.ts'
import { createSemaphore, holderOf } from '../concurrency.ts'
import * as contract from '../contract/ledger.ts'
import type { Parts } from '../parts.ts'
import { visible } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'

/** Concurrent audits; each reads a day of history of every schedule it covers. */
const AUDITS = { what: 'audits', limits: { server: 4, workspace: 2, key: 2 }, retryAfterSeconds: 5 }

export function ledgerRoutes({ core, ending }: Parts): readonly Route[] {
  const audits = createSemaphore(AUDITS)

  return [
    route(contract.readLedger, async ({ query, principal, request }) => {
      const { schedule, since, workspace } = query
      const release = audits.take(holderOf(principal, ''))
      try {
        const report = await audit(core, {
          ...visible(principal, workspace),
          ...(schedule === undefined ? {} : { schedule }),
          ...(since === undefined ? {} : { from: since }),
          onProgress() {
            request.signal.throwIfAborted()
            ending.throwIfAborted()
          },
        })
        return ok(report)
      } finally {
        release()
      }
    }),
  ]
}
