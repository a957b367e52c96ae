/** HTTP handler of the overview, from sums and counts whose cost does not depend on the size of the fleet. */
import { merged, quantiles, upTo } from '../../observe/histogram.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import type { QueueRow } from '../../store/contract/queues.ts'
import { LATENESS_BOUNDS, type Stats } from '../../store/contract/stats.ts'
import type { Store } from '../../store/contract/store.ts'
import { isAlive, type WorkerRow } from '../../store/contract/workers.ts'
import * as contract from '../contract/overview.ts'
import type { Parts } from '../parts.ts'
import { visible } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'

/** The most queues to count that only runs name. */
const MAX_QUEUES = 1000
/** A run that starts within this delay is on time. */
const ON_TIME_MS = 1000

export function overviewRoutes({ core }: Parts): readonly Route[] {
  return [
    route(contract.overview, async ({ query, principal }) => {
      const store = await core.store()
      const { workspace } = visible(principal, query.workspace)
      const now = await store.now()
      const scope = workspace === undefined ? 'all' : (`workspace:${workspace}` as const)
      const [stats, sizes, fleet] = await Promise.all([
        store.stats.read(scope, { fromAt: now - DAY_MS, toAt: now }),
        store.stats.sizes(workspace),
        // Queues and workers are shared by all workspaces, so a caller bound to one workspace does not see them.
        principal.workspace === null ? fleetOf(store, now) : null,
      ])
      const [kind] = store.name.split(' ', 1)
      return ok({ at: new Date(now), store: kind, sizes, ...dayOf(stats), fleet })
    }),
  ]
}

function dayOf(stats: readonly Stats[]) {
  const { lateness, latenessMaxMs, durations: _, durationSumMs: __, durationMaxMs: ___, ...last24h } = merged(stats)
  const { p50, p95, p99 } = quantiles(upTo(LATENESS_BOUNDS, latenessMaxMs), lateness)
  return {
    last24h,
    onTime: onTimeOf(lateness),
    lateness: { p50Ms: p50, p95Ms: p95, p99Ms: p99 },
    series: stats.map(({ at, succeeded, failed, skipped, missed }) => ({
      ...{ at: new Date(at), succeeded, failed, skipped, missed },
    })),
  }
}

/** A share of the runs that started. */
export function onTimeOf(lateness: readonly number[]): number | null {
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)
  const started = sum(lateness)
  return started === 0 ? null : sum(lateness.slice(0, LATENESS_BOUNDS.indexOf(ON_TIME_MS) + 1)) / started
}

async function fleetOf(store: Store, now: number) {
  const [workers, queues, alerts] = await Promise.all([
    store.workers.list(),
    store.queues.sweep({ after: '', limit: MAX_QUEUES, names: [] }).then(({ rows }) => rows),
    store.documents.list('alert', { state: 'open', limit: contract.MAX_ALERTS }),
  ])
  const alive = workers.filter((worker) => isAlive(worker, now))
  const oldest = queues.flatMap(({ oldestDueAt }) => oldestDueAt ?? [])
  return {
    workersAlive: alive.length,
    workers: workers.length,
    ready: queues.reduce((sum, { ready }) => sum + ready, 0),
    running: queues.reduce((sum, { running }) => sum + running, 0),
    oldestDueAt: oldest.length === 0 ? null : new Date(oldest.reduce((least, at) => Math.min(least, at))),
    queuesWithoutWorkers: unserved(queues, alive).slice(0, contract.MAX_QUEUES),
    openAlerts: alerts.length,
  }
}

/** Queues with waiting runs that no live worker serves. */
export function unserved(
  queues: readonly Pick<QueueRow, 'name' | 'ready' | 'pause'>[],
  alive: readonly Pick<WorkerRow, 'roles' | 'queues' | 'draining'>[],
): string[] {
  const served = new Set(
    alive
      .filter(({ roles, draining }) => roles.includes('worker') && !draining)
      .flatMap((worker) => Object.keys(worker.queues)),
  )
  return queues.filter(({ name, ready, pause }) => ready > 0 && !pause && !served.has(name)).map(({ name }) => name)
}
