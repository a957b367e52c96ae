/** HTTP handler of the metrics; unauthenticated only with `publicMetrics`. */
import * as contract from '../contract/metrics.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Parts } from '../parts.ts'
import { type Route, route } from '../route.ts'

export function metricsRoutes({ core, settings }: Parts): readonly Route[] {
  const operation = settings.publicMetrics ? ({ ...contract.getMetrics, scope: 'none' } as const) : contract.getMetrics
  let loading: Promise<Metrics> | null = null
  const metrics = (): Promise<Metrics> => {
    loading ??= import('../metrics/metrics.ts').then(({ fleetMetrics }) => fleetMetrics(core))
    return loading
  }
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
