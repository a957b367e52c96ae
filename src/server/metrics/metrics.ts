/** The metrics of one process, with or without those of the fleet, in the Prometheus text format. */
import { Registry } from 'prom-client'
import type { Core } from '../../scheduler/core.ts'
import { createCoverage } from './coverage.ts'
import { createDayTotals } from './day-totals.ts'
import { registerFigure } from './figure.ts'
import { fleetAway, pollFleet } from './fleet.ts'
import { FLEET_FIGURES } from './fleet-figures.ts'
import { registerProcess } from './process-figures.ts'
import { createPoll, pollStore, storeAway } from './store-poll.ts'

export interface Metrics {
  readonly contentType: string
  text(): Promise<string>
}

/** Metrics of this process only. Cheap enough for every process: the only query reads the database time. */
export function processMetrics(core: Core): Metrics {
  const registry = new Registry()
  const { clock } = core
  registerProcess(registry, core, createPoll(core, { poll: (store) => pollStore(store, clock), away: storeAway }))
  return metricsOf(registry)
}

/** Metrics of this process and of the fleet, from the store. */
export function fleetMetrics(core: Core): Metrics {
  const registry = new Registry()
  const { clock, settings } = core
  const options = {
    clock,
    coverage: createCoverage(settings.retention),
    dayTotals: createDayTotals(),
    queues: Object.keys(settings.queues),
  }
  const poll = createPoll(core, { poll: (store) => pollFleet(store, options), away: fleetAway })
  registerProcess(registry, core, poll)
  for (const figure of FLEET_FIGURES) registerFigure(registry, figure, poll)
  return metricsOf(registry)
}

const metricsOf = (registry: Registry): Metrics => ({
  contentType: registry.contentType,
  text: () => registry.metrics(),
})
