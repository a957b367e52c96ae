/** The metrics of one server: what its process counts and what the store tells of the fleet, as text for Prometheus; who may read it is the server's matter. */
import { Registry } from 'prom-client'
import type { Core } from '../../scheduler/core.ts'
import { countFacts } from './counters.ts'
import { createCoverage } from './coverage.ts'
import { createDoubleFires } from './double-fires.ts'
import { AWAY, type Fleet, lookAtFleet } from './fleet.ts'
import { registerGauges } from './gauges.ts'

export interface Metrics {
  readonly contentType: string
  text(): Promise<string>
}

/** However many scrape, the store is asked this often at most. */
const FRESH_MS = 5000
/** Then the store counts as away: a scrape is worth more when it answers in time. */
const PATIENCE_MS = 4000

/** Counts from now on, until the server ends. */
export function createMetrics(core: Core, ending: AbortSignal): Metrics {
  const registry = new Registry()
  const { settings } = core
  const count = countFacts(registry, { jobs: settings.ownJobs.keys(), queues: Object.keys(settings.queues) })
  registerGauges(registry, createLook(core))
  ending.addEventListener('abort', core.hub.onFact(count), { once: true })
  return { contentType: registry.contentType, text: () => registry.metrics() }
}

function createLook({ clock, timers, settings, store }: Core): () => Promise<Fleet> {
  const options = {
    clock,
    coverage: createCoverage(settings.retention),
    doubleFires: createDoubleFires(),
    queues: Object.keys(settings.queues),
  }
  let last: { readonly at: number; readonly fleet: Promise<Fleet> } | null = null

  const look = (): Promise<Fleet> =>
    new Promise((resolve) => {
      const cancel = timers.set(PATIENCE_MS, () => resolve(AWAY))
      const answer = (fleet: Fleet): void => {
        cancel()
        resolve(fleet)
      }
      store()
        .then((opened) => lookAtFleet(opened, options))
        .then(answer, () => answer(AWAY))
    })

  return () => {
    const at = clock.elapsed()
    if (!last || at - last.at >= FRESH_MS) last = { at, fleet: look() }
    return last.fleet
  }
}
