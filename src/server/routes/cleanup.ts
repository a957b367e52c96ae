/** HTTP handler of retention on demand: a few steps per request, so that none takes long. */
import * as contract from '../contract/cleanup.ts'
import { defined } from '../defined.ts'
import type { Parts } from '../parts.ts'
import { ok, type Route, route } from '../route.ts'

/** Steps per request. Each removes about a thousand rows, or whole days of rows. */
const STEPS = 20

export function cleanupRoutes({ app }: Parts): readonly Route[] {
  return [
    route(contract.runCleanup, async ({ body: { dryRun = false, retention = {} } }) => {
      const report = await app.cleanup({ dryRun, retention: defined(retention), steps: STEPS })
      if (dryRun || report.removed === 0) return { ...ok(report), change: 'none' }
      const { removed, counts, retention: kept } = report
      return {
        ...ok(report),
        change: { workspace: '', target: 'cleanup', after: { removed, counts, retention: kept } },
      }
    }),
  ]
}
