/** `everytick()`: the app with its HTTP handler, metrics and probes; their code is loaded on first use. */

import { checkKeys, readBoolean } from './options.ts'
import { coreOf, keepCore } from './scheduler/core.ts'
import type { EverytickOptions } from './scheduler/settings.ts'
import type { Everytick as App } from './scheduler.ts'
import { everytick as createEverytick } from './scheduler.ts'
import type { Metrics } from './server/metrics/metrics.ts'
import type { Handler, NodeEnv } from './server/mounted.ts'
import type { ProbeOptions, Probes } from './server/probes.ts'
import { readServerOptions, type ServerOptions } from './server/settings.ts'

export interface Everytick extends App {
  /**
   * The REST API as a fetch-style handler (`Request` to `Response`), for Hono, Next and similar frameworks; wrap it in
   * `toNodeHandler` for Express and Fastify. Rejects requests without an API key, unless `authorize` authenticates them.
   */
  handler(options?: ServerOptions): Handler
  /**
   * Returns the metrics of this process in the Prometheus text format, counted since the app was created. `fleet` adds the
   * metrics of the whole fleet, which takes some database queries; scrape those from one process only.
   */
  metrics(options?: MetricsOptions): Promise<string>
  /** Starts a server for probes and scrapers: `/healthz`, `/readyz` and `/metrics`, without authentication. It closes with the app. */
  serveProbes(options?: ProbeOptions): Promise<Probes>
}

export interface MetricsOptions {
  readonly fleet?: boolean
}

export function everytick(options: EverytickOptions): Everytick {
  const app = createEverytick(options)
  const made = new Map<boolean, Promise<Metrics>>()
  const metricsOf = (fleet: boolean): Promise<Metrics> => {
    const known = made.get(fleet)
    if (known) return known
    const loading = import('./server/metrics/metrics.ts').then(({ fleetMetrics, processMetrics }) =>
      fleet ? fleetMetrics(coreOf(app)) : processMetrics(coreOf(app)),
    )
    made.set(fleet, loading)
    return loading
  }
  const reachable: Everytick = Object.freeze({
    ...app,
    handler(given: ServerOptions = {}) {
      const { basePath } = readServerOptions(given)
      // Loads now instead of with the first request, because a server also starts background tasks such as alerting.
      const made = import('./server/handler.ts').then(({ handler }) => handler(reachable, given))
      made.catch(() => {})
      return Object.assign(async (request: Request, env?: NodeEnv) => (await made)(request, env), { basePath })
    },
    async metrics(given: MetricsOptions = {}) {
      checkKeys(given, ['fleet'], 'metrics()')
      const { text } = await metricsOf(readBoolean(given.fleet ?? false, 'fleet'))
      return text()
    },
    async serveProbes(given: ProbeOptions = {}) {
      const { serveProbes } = await import('./server/probes.ts')
      return serveProbes(reachable, given)
    },
  })
  keepCore(reachable, coreOf(app))
  return reachable
}
