/** What a scrape tells of a fleet, on both stores: from real facts, real rows, and a store that does not answer. */
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { defineJob, schedule } from '../../src/index.ts'
import type { Core } from '../../src/scheduler/core.ts'
import { createCounters } from '../../src/scheduler/counters.ts'
import { eventHub } from '../../src/scheduler/events.ts'
import { createQuotaCheck } from '../../src/scheduler/quotas.ts'
import { type EverytickOptions, readSettings } from '../../src/scheduler/settings.ts'
import { syncSchedules } from '../../src/scheduler/sync.ts'
import { fleetMetrics, type Metrics } from '../../src/server/metrics/metrics.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { uuidGenerator } from '../../src/uuid.ts'
import { OPEN_PLACES, type OpenPlace } from '../facade/open-resources.ts'

const START = Date.parse('2027-01-01T00:00:00Z')
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const good = defineJob({ name: 'good', run: () => {} })
const bad = defineJob({
  name: 'bad',
  retry: { attempts: 1 },
  run() {
    throw new Error('marker-error')
  },
})

interface Stage {
  readonly metrics: Metrics
  readonly engine: Engine
  /** Moves on, and does what is due. */
  advance(ms: number): Promise<void>
  /** Moves on while nobody works. */
  sleep(ms: number): Promise<void>
  read(): Promise<Map<string, number>>
}

let place: OpenPlace
let engine: Engine | null = null
afterEach(async () => {
  await engine?.stop({ drainMs: 0 })
  engine = null
  await place[Symbol.asyncDispose]()
})

async function stage(
  given: Partial<EverytickOptions>,
  seen: (store: Store) => Store = (store) => store,
): Promise<Stage> {
  const { store, clock, moved = async () => {} } = place
  const { timers } = clock
  const settings = readSettings({ jobs: [good, bad], logger, ...given, store })
  const hub = eventHub(logger)
  const counters = createCounters({ jobs: settings.ownJobs.keys(), queues: Object.keys(settings.queues) })
  hub.onEvent(counters.count)
  const core: Core = {
    ...{ settings, clock, timers, hub, counters, newId: uuidGenerator(clock), onStop: () => () => {} },
    store: async () => seen(store),
    slots: () => engine?.slots() ?? [],
    isRunning: () => engine !== null,
    isStopped: () => false,
    isStoreFailing: () => false,
    quotas: createQuotaCheck(() => core),
  }
  await syncSchedules({ ...core, store: async () => store })
  const metrics = fleetMetrics(core)
  const { ownJobs: jobs, queues, leaseMs, lookaheadMs, retention } = settings
  const made = createEngine({
    ...{ store, clock, timers, jobs, queues, leaseMs, lookaheadMs, retention, roles: ['scheduler', 'worker'] },
    ...{ workerId: 'w', host: { name: 'host', pid: 1 }, onEvent: hub.tell },
  })
  engine = made
  const sleep = async (ms: number): Promise<void> => {
    await moved(clock.now() + ms)
    clock.moveBy(ms)
  }
  return {
    metrics,
    engine: made,
    sleep,
    async advance(ms) {
      await sleep(ms)
      await made.settled()
    },
    read: async () => valuesOf(await metrics.text()),
  }
}

const valuesOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )

describe.each(OPEN_PLACES)('a scrape on %s', (name, open) => {
  it('tells what was planned, begun and ended, and that all of it is accounted for', async () => {
    place = await open(START)
    const schedules = [
      schedule({ key: 'well', cron: '* * * * *', job: good }),
      schedule({ key: 'ill', cron: '* * * * *', job: bad }),
    ]
    const { advance, read } = await stage({ schedules })
    for (let minute = 0; minute < 6; minute++) await advance(60_000)
    const values = await read()
    const some = {
      'everytick_runs_total{job="good",outcome="succeeded"}': 6,
      'everytick_runs_total{job="bad",outcome="failed"}': 6,
      'everytick_attempts_total{job="bad"}': 6,
      'everytick_lateness_seconds_count{queue="default"}': 12,
      'everytick_queue_depth{queue="default"}': 0,
      everytick_store_up: 1,
      everytick_evaluation_lag_seconds: 0,
      everytick_coverage_ratio: 1,
      everytick_schedules: 2,
      everytick_orphaned_rows: 0,
      everytick_quarantined_schedules: 0,
      everytick_double_fires_total: 0,
      // Those of the five minutes that are over; the last two ended after them.
      'everytick_fleet_runs_total{outcome="succeeded"}': 4,
      'everytick_fleet_runs_total{outcome="failed"}': 4,
      'everytick_fleet_non_runs_total{outcome="missed"}': 0,
      everytick_fleet_attempts_total: 8,
      everytick_clock_skew_seconds: 0,
      everytick_planner_leadership_changes_total: 1,
    }
    expect(Object.fromEntries(Object.keys(some).map((key) => [key, values.get(key)]))).toEqual(some)
    expect(values.get('everytick_fires_total')).toBeGreaterThanOrEqual(12)
    expect(values.get('everytick_planner_pass_seconds_count')).toBeGreaterThan(0)
    expect(values.get('everytick_store_bytes')).toBeGreaterThan(0)
    expect(values.has('everytick_dead_tuples')).toBe(name === 'Postgres')
    expect(values.has('everytick_pool_connections{state="used"}')).toBe(name === 'Postgres')
  })

  it('counts no attempt, duration or lateness of a run whose job this process does not have', async () => {
    place = await open(START)
    const { advance, read } = await stage({})
    await place.store.runs.enqueue([
      {
        ...{ id: '01890000-0000-7000-8000-000000000001', workspace: 'default', job: 'elsewhere', queue: 'default' },
        ...{ trigger: 'enqueue', priority: 5, payload: null, policy: good.policy, schedule: null, slot: null },
        ...{ group: null, overlap: 'allow', due: { delayMs: 0 }, idempotencyKey: null },
      },
    ])
    for (let look = 0; look < 4; look++) await advance(6000)
    const journal = await place.store.history.journal({ runId: '01890000-0000-7000-8000-000000000001' })
    expect(journal.length).toBeGreaterThan(1)
    expect(new Set(journal.map(({ kind }) => kind))).toEqual(new Set(['unknown_job']))
    const values = await read()
    expect([...values.keys()].filter((key) => key.includes('elsewhere'))).toEqual([])
    expect(values.get('everytick_lateness_seconds_count{queue="default"}')).toBe(0)
  })

  it('does not count its own questions among the connections in use', async () => {
    place = await open(START)
    const { read, sleep } = await stage({})
    for (let scrape = 0; scrape < 5; scrape++) {
      const values = await read()
      const pool = ['used', 'waiting'].map((state) => values.get(`everytick_pool_connections{state="${state}"}`))
      expect(pool).toEqual(name === 'Postgres' ? [0, 0] : [undefined, undefined])
      await sleep(5000)
    }
  })

  it('tells how far planning is behind while nobody plans, that occurrences are open, and what was missed after', async () => {
    place = await open(START)
    const schedules = [schedule({ key: 'well', cron: '* * * * *', job: good, catchUp: 'latest' })]
    const { advance, sleep, read } = await stage({ schedules })
    await advance(60_000)
    await sleep(600_000)
    const behind = await read()
    expect(behind.get('everytick_evaluation_lag_seconds')).toBe(540)
    expect(behind.get('everytick_coverage_ratio')).toBeLessThan(0.5)
    expect(behind.get('everytick_missed_total')).toBe(0)
    await advance(5000)
    const after = await read()
    expect(after.get('everytick_evaluation_lag_seconds')).toBe(0)
    expect(after.get('everytick_coverage_ratio')).toBe(1)
    expect(after.get('everytick_missed_total')).toBeGreaterThan(7)
  })

  it('has series for queues that somebody named or serves, however many queues one workspace names', async () => {
    place = await open(START)
    const { read } = await stage({ queues: { default: 5 } })
    const run = {
      workspace: 'evil',
      job: 'good',
      priority: 5,
      due: { delayMs: 0 },
      overlap: 'allow',
      trigger: 'enqueue',
    } as const
    const policy = { retry: { attempts: 1, backoff: 'fixed', baseMs: 1, maxMs: 1 } } as const
    const nothing = { payload: null, schedule: null, slot: null, group: null, idempotencyKey: null }
    const newId = uuidGenerator(place.clock)
    const enqueued = (workspace: string, queue: string) => ({
      ...run,
      ...nothing,
      policy,
      id: newId(),
      workspace,
      queue,
    })
    await place.store.queues.configure([{ name: 'zz-named', limits: {} }])
    await place.store.runs.enqueue([
      ...Array.from({ length: 300 }, (_, i) => enqueued('evil', `aaa-${i}`)),
      enqueued('evil', 'zz-named'),
      enqueued('victim', 'zz-theirs'),
    ])
    const values = await read()
    for (const queue of ['zz-named', 'zz-theirs']) expect(values.get(`everytick_queue_depth{queue="${queue}"}`)).toBe(1)
    expect(values.get('everytick_queue_depth{queue="default"}')).toBe(0)
    expect([...values.keys()].filter((key) => key.startsWith('everytick_queue_depth{queue="aaa'))).toHaveLength(20)
    expect(values.get('everytick_queue_depth{queue="other"}')).toBe(280)
    expect(values.get('everytick_queues_hidden')).toBe(280)
  })

  it('tells what waits in a queue that nobody serves, and for how long', async () => {
    place = await open(START)
    const schedules = [schedule({ key: 'elsewhere', cron: '* * * * *', job: good, queue: 'gpu', overlap: 'allow' })]
    const { advance, read } = await stage({ schedules, queues: { default: 5 } })
    await advance(60_000)
    await advance(90_000)
    const values = await read()
    expect(values.get('everytick_queue_depth{queue="gpu"}')).toBe(2)
    expect(values.get('everytick_queue_oldest_due_seconds{queue="gpu"}')).toBe(90)
  })

  it('tells the depth of a paused queue, and not that its runs wait: they wait on purpose', async () => {
    place = await open(START)
    const schedules = [schedule({ key: 'elsewhere', cron: '* * * * *', job: good, queue: 'gpu', overlap: 'allow' })]
    const { advance, read } = await stage({ schedules, queues: { default: 5 } })
    await place.store.queues.pause('gpu', { reason: 'vendor outage', by: 'ana' })
    await advance(60_000)
    await advance(90_000)
    const values = await read()
    expect(values.get('everytick_queue_depth{queue="gpu"}')).toBe(2)
    expect(values.get('everytick_queue_oldest_due_seconds{queue="gpu"}')).toBe(0)
    await place.store.queues.resume('gpu')
    await advance(5_000)
    expect((await read()).get('everytick_queue_oldest_due_seconds{queue="gpu"}')).toBe(95)
  })

  it('asks the store once in five seconds, however many scrape', async () => {
    place = await open(START)
    let asked = 0
    const counted = (store: Store): Store => {
      asked++
      return store
    }
    const { metrics, sleep } = await stage({}, counted)
    await Promise.all([metrics.text(), metrics.text(), metrics.text()])
    await metrics.text()
    expect(asked).toBe(1)
    await sleep(5000)
    await metrics.text()
    expect(asked).toBe(2)
  })

  it('answers what this process knows when the store is away', async () => {
    place = await open(START)
    const { advance, read } = await stage({}, () => {
      throw new Error('away')
    })
    await advance(1000)
    const values = await read()
    expect(values.get('everytick_store_up')).toBe(0)
    expect(values.get('everytick_missed_total')).toBe(0)
    expect(values.has('everytick_evaluation_lag_seconds')).toBe(false)
  })

  it('answers in time though the store never does', async () => {
    place = await open(START)
    const stuck = (store: Store): Store => ({ ...store, now: () => new Promise(() => {}) })
    const { metrics, sleep } = await stage({}, stuck)
    const text = metrics.text()
    await new Promise(setImmediate)
    await sleep(4000)
    expect(valuesOf(await text).get('everytick_store_up')).toBe(0)
  })

  it('leaves out the part that fails, and only that', async () => {
    place = await open(START)
    const partly = (store: Store): Store => ({
      ...store,
      queues: { ...store.queues, sweep: () => Promise.reject(new Error('broken')) },
    })
    const { read } = await stage({}, partly)
    const values = await read()
    expect(values.get('everytick_store_up')).toBe(1)
    expect(values.get('everytick_workers_alive')).toBe(0)
    expect([...values.keys()].filter((key) => key.startsWith('everytick_queue'))).toEqual([])
  })

  it('says nothing of what jobs were given or what they threw', async () => {
    place = await open(START)
    const schedules = [schedule({ key: 'marker-key', cron: '* * * * *', job: bad })]
    const { advance, metrics } = await stage({ schedules })
    await advance(60_000)
    const text = await metrics.text()
    expect(text).toContain('everytick_runs_total{job="bad",outcome="failed"} 1')
    expect(text).not.toContain('marker')
  })
})
