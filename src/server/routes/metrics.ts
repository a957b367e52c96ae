/** Answers the figures of this process and of the fleet; open to everybody only where the server was told so. */
import * as contract from '../contract/metrics.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Parts } from '../parts.ts'
import { type Route, route } from '../route.ts'

export function metricsRoutes({ core, settings, ending }: Parts): readonly Route[] {
  const operation = settings.publicMetrics ? ({ ...contract.getMetrics, scope: 'none' } as const) : contract.getMetrics
  let loading: Promise<Metrics> | null = null
  const metrics = (): Promise<Metrics> => {
    loading ??= import('../metrics/metrics.ts').then(({ createMetrics }) => createMetrics(core, ending))
    return loading
  }
  // A server counts from its start; a command that uses this interface for a moment has no need of it.
  if (settings.duties) metrics().catch(() => {})
  return [
    route(operation, async () => {
      const { contentType, text } = await metrics()
      return {
        status: 200,
        raw: new Response(await text(), { headers: { 'content-type': contentType, 'cache-control': 'no-store' } }),
      }
    }),
  ]
}
