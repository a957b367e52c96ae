/** HTTP handlers of the health probes. */
import * as contract from '../contract/health.ts'
import type { Parts } from '../parts.ts'
import { createReadiness } from '../readiness.ts'
import { ok, type Route, route } from '../route.ts'

export function healthRoutes({ core }: Parts): readonly Route[] {
  const checkReady = createReadiness(core)
  return [
    route(contract.healthz, async () => ok({ status: 'ok' })),
    route(contract.readyz, async () => {
      await checkReady()
      return ok({ status: 'ready' })
    }),
  ]
}
