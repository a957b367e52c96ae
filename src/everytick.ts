/** `everytick()`: an app that can also be reached over HTTP and scraped; the code for that is loaded when it is asked for. */

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
   * The REST interface as a function from a request to its answer, for Hono, Next and whatever else speaks those; Express and
   * Fastify reach it through `toNodeHandler`. Closed to everybody who has no key, unless `authorize` says who they are.
   */
  handler(options?: ServerOptions): Handler
  /**
   * The figures of this process in the text format of Prometheus, counted since the app was made. With `fleet`, also those of the
   * whole fleet, which cost the store some questions; one process of a fleet is enough for them.
   */
  metrics(options?: MetricsOptions): Promise<string>
  /** Listens for probes and scrapers, and answers `/healthz`, `/readyz` and `/metrics` to whoever reaches the port; ends with the app. */
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
      // At once, and not with the first request: what goes with a server, such as alerts, begins with it.
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
