/** HTTP handlers of the forecast, computed per class of schedules, at most once a minute; `observe/` does the counting. */
import { findingClockChanges } from '../../observe/clock-changes.ts'
import { type ForecastOptions, forecasting } from '../../observe/forecast.ts'
import { findingSpikes, type Spike } from '../../observe/spikes.ts'
import type { TimingClass } from '../../observe/timing-class.ts'
import { readDuration, readInstantOption, refused } from '../../options.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import type { Stats } from '../../store/contract/stats.ts'
import type { Store } from '../../store/contract/store.ts'
import { isAlive } from '../../store/contract/workers.ts'
import type { Clock } from '../../time/clock.ts'
import { formatDuration } from '../../time/duration.ts'
import { inSteps } from '../../time/in-steps.ts'
import { holderOf } from '../concurrency.ts'
import * as contract from '../contract/forecast.ts'
import { createForecastCache } from '../forecast-cache.ts'
import type { Parts } from '../parts.ts'
import { type Principal, visible } from '../principal.ts'
import { ok, type Route, route } from '../route.ts'

const MAX_BUCKETS = 2016
const MAX_SPAN_MS = 62 * DAY_MS
const YEAR_MS = 365 * DAY_MS
/** Fewer fires in one second are not a spike. */
const MIN_SPIKE = 100
/** The number of jobs with their own mean duration; the others use the overall average. */
const MAX_JOBS = 50
const TOP = 3

interface ParsedRequest {
  readonly workspace?: string
}

export function forecastRoutes({ core, settings }: Parts): readonly Route[] {
  const { clock } = core
  const cache = createForecastCache(clock)
  /** Read once per minute in one pass over all schedules, for all forecasts. */
  const known = createForecastCache(clock)
  const classesOf = async (workspace?: string, owner?: string): Promise<readonly TimingClass[]> => {
    const { schedules } = await core.store()
    return (await known.get(workspace ?? '', () => schedules.classes(workspace), owner)).value
  }
  // Prefetch, so that the first request waits only for the counting.
  if (settings.backgroundTasks) classesOf().catch(() => {})

  /** Without `from`, starts at a whole bucket, so that the result can be cached. */
  const spanOf = (
    now: number,
    query: { from?: string | undefined; to?: string | undefined; bucket?: string | undefined },
  ) => {
    const bucketMs = readDuration(query.bucket ?? '5m', 'bucket', 1000)
    const fromAt =
      query.from === undefined ? Math.floor(now / bucketMs) * bucketMs : readInstantOption(query.from, 'from')
    const toAt = query.to === undefined ? fromAt + DAY_MS : readInstantOption(query.to, 'to')
    if (toAt <= fromAt) throw refused('to is not after from', 'swap them')
    if (toAt - fromAt > MAX_SPAN_MS) throw refused('from and to are more than 62 days apart')
    if ((toAt - fromAt) / bucketMs > MAX_BUCKETS)
      throw refused(
        `the forecast would have more than ${MAX_BUCKETS} buckets`,
        'choose a longer bucket or a shorter period',
      )
    return { fromAt, toAt, bucketMs }
  }

  return [
    route(contract.readForecast, async ({ query, principal }) => {
      const asked = visible(principal, query.workspace)
      const owner = ownerOf(principal)
      const store = await core.store()
      const wanted = spanOf(await store.now(), query)
      // A forecast from now has one cache entry; its period is relative to when it was computed.
      const lengthMs = wanted.toAt - wanted.fromAt
      const when = query.from === undefined && query.to === undefined ? 'now' : wanted.fromAt
      const name = JSON.stringify(['forecast', asked.workspace ?? null, when, lengthMs, wanted.bucketMs])
      const { asOf, value } = await cache.get(
        name,
        async () => {
          const span = when === 'now' ? spanOf(await store.now(), query) : wanted
          const classes = await classesOf(asked.workspace, owner)
          const means = await meansOf(store, classes, asked)
          return { span, data: await inSteps(forecasting(classes, span, { ...means, top: TOP }), clock) }
        },
        owner,
      )
      const slots = await slotsOf(store, asked)
      const { fromAt, toAt, bucketMs } = value.span
      return ok({
        ...madeOf(asOf, fromAt, toAt),
        bucket: formatDuration(bucketMs),
        slots,
        data: value.data.map(({ at, ...bucket }) => ({
          ...{ at: new Date(at), ...bucket },
          capacity: slots === null ? null : (slots * (Math.min(at + bucketMs, toAt) - at)) / 1000,
        })),
      })
    }),
    route(contract.readSpikes, async ({ query, principal }) => {
      const asked = visible(principal, query.workspace)
      const owner = ownerOf(principal)
      const store = await core.store()
      const name = JSON.stringify(['spikes', asked.workspace ?? null])
      const { asOf, value } = await cache.get(
        name,
        async () => spikesOf(store, clock, { ...asked, classes: await classesOf(asked.workspace, owner) }),
        owner,
      )
      const data = value.spikes.map((spike) => ({ ...spike, at: new Date(spike.at) }))
      return ok({ ...madeOf(asOf, value.fromAt, value.fromAt + DAY_MS), data })
    }),
    route(contract.readClockChanges, async ({ query, principal }) => {
      const asked = visible(principal, query.workspace)
      const owner = ownerOf(principal)
      const store = await core.store()
      const { asOf, value } = await cache.get(
        JSON.stringify(['clocks', asked.workspace ?? null]),
        async () => {
          const fromAt = await store.now()
          const steps = findingClockChanges(await classesOf(asked.workspace, owner), {
            fromAt,
            toAt: fromAt + YEAR_MS,
          })
          return { fromAt, changes: await inSteps(steps, clock) }
        },
        owner,
      )
      const data = value.changes.map((change) => ({ ...change, at: new Date(change.at) }))
      return ok({ ...madeOf(asOf, value.fromAt, value.fromAt + YEAR_MS), data })
    }),
  ]
}

/** For the next day, from the currently stored schedules. */
export async function spikesOf(
  store: Store,
  clock: Clock,
  asked: ParsedRequest & { readonly classes?: readonly TimingClass[] },
): Promise<{ readonly fromAt: number; readonly spikes: readonly Spike[] }> {
  const fromAt = Math.floor((await store.now()) / 1000) * 1000
  const classes = asked.classes ?? (await store.schedules.classes(asked.workspace))
  const means = await meansOf(store, classes, asked)
  const capacity = (await slotsOf(store, asked)) ?? 0
  const options = { ...means, fromAt, toAt: fromAt + DAY_MS, capacity, minFires: MIN_SPIKE }
  return { fromAt, spikes: await inSteps(findingSpikes(classes, options), clock) }
}

/** The owner of a computation in the cache. */
const ownerOf = (principal: Principal): string => holderOf(principal, '').workspace

const madeOf = (asOf: number, fromAt: number, toAt: number) => ({
  ...{ asOf: new Date(asOf), from: new Date(fromAt), to: new Date(toAt) },
})

/** How many runs the live workers can execute at once; fleet information, so null for one workspace. */
async function slotsOf(store: Store, { workspace }: ParsedRequest): Promise<number | null> {
  if (workspace !== undefined) return null
  const [workers, now] = await Promise.all([store.workers.list(), store.now()])
  return workers
    .filter((worker) => isAlive(worker, now) && !worker.draining)
    .reduce((sum, { queues }) => sum + Object.values(queues).reduce((slots, each) => slots + each, 0), 0)
}

/** From the last day. A workspace does not see durations of other workspaces. */
async function meansOf(
  store: Store,
  classes: readonly TimingClass[],
  { workspace }: ParsedRequest,
): Promise<Pick<ForecastOptions, 'meanMs' | 'typicalMs'>> {
  const now = await store.now()
  const span = { fromAt: now - DAY_MS, toAt: now }
  const typicalMs =
    meanOf(await store.stats.read(workspace === undefined ? 'all' : `workspace:${workspace}`, span)) ?? 0
  const meanMs = new Map<string, number>()
  if (workspace !== undefined) return { meanMs, typicalMs }
  for (const job of largestJobs(classes)) {
    const mean = meanOf(await store.stats.read(`job:${job}`, span))
    if (mean !== null) meanMs.set(job, mean)
  }
  return { meanMs, typicalMs }
}

function meanOf(stats: readonly Stats[]): number | null {
  const sum = stats.reduce((ms, { durationSumMs }) => ms + durationSumMs, 0)
  const runs = stats.reduce((count, { durations }) => count + durations.reduce((all, each) => all + each, 0), 0)
  return runs === 0 ? null : sum / runs
}

function largestJobs(classes: readonly TimingClass[]): string[] {
  const counts = new Map<string, number>()
  for (const { job, count } of classes) counts.set(job, (counts.get(job) ?? 0) + count)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_JOBS)
    .map(([job]) => job)
}
