/** Answers whether the ledger adds up, by the scheduler's own audit; a few at once, and none for those who have left. */
import { audit } from '../../scheduler/audit.ts'
import * as contract from '../contract/ledger.ts'
import type { Parts } from '../parts.ts'
import { visible } from '../principal.ts'
import { Refusal } from '../problem.ts'
import { ok, type Route, route } from '../route.ts'

/** Each reads a day of history of every schedule it is asked about. */
const AT_ONCE = 4

export function ledgerRoutes({ core, ending }: Parts): readonly Route[] {
  let underWay = 0

  return [
    route(contract.readLedger, async ({ query, principal, request }) => {
      const { schedule, since, workspace } = query
      if (underWay >= AT_ONCE)
        throw new Refusal('UNAVAILABLE', `${AT_ONCE} audits are under way`, { hint: 'try again when one has ended' })
      underWay++
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
        underWay--
      }
    }),
  ]
}
