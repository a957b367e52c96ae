/** What the load consists of: the jobs, the runs and the schedules of every measurement; how fast they go is measured elsewhere. */
import { defineJob } from 'everytick'
import { systemClock } from '../../dist/time/clock.js'
import { uuidGenerator } from '../../dist/uuid.js'

/** Ids in order, as the product makes them: random ones would make every index more expensive. */
export const newId = uuidGenerator(systemClock)
export const newIds = (count) => Array.from({ length: count }, newId)

/** Answers nothing and does nothing, so that all the time is ours. */
export const noop = defineJob({ name: 'noop', run() {} })

/** Pushes due instant and lateness of every run to `into`; flat, because it is sent to another process. */
export const tickJob = (into) =>
  defineJob({
    name: 'tick',
    run(ctx) {
      const dueAt = ctx.run.dueAt.getTime()
      into.push(dueAt, Date.now() - dueAt)
    },
  })

/** Never ends by itself when it is tried for the first time; every later try is told with its instant, and ends. */
export const holdJob = ({ held, again }) =>
  defineJob({
    name: 'hold',
    async run(ctx) {
      if (ctx.run.attempt > 1) return again(Date.now())
      held(1)
      await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    },
  })

/** How many runs one process works on at once. */
export const CONCURRENCY = 50
const FIRING = { overlap: 'skip', jitter: null, maxRuns: null, concurrencyKey: null }
const CATCH_UP = { catchUp: 'latest', windowMs: 86_400_000, limit: 100 }

const ZONES = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Tokyo']

/** Hourly, each with one occurrence within any hour, over zones and minutes. */
export const hourly = (key, i) => ({
  key: `hourly-${key}-${i}`,
  cron: `${i % 60} * * * *`,
  timezone: ZONES[i % ZONES.length],
  job: noop,
})

/** A schedule ready to be put into a store: an interval that is first due at `anchorAt`. */
export const putOf = ({ key, everyMs, anchorAt, job, now }) => ({
  id: newId(),
  nextAt: anchorAt,
  watermarkAt: Math.min(now, anchorAt - 1),
  from: null,
  by: 'benchmark',
  definition: {
    workspace: 'default',
    key,
    timing: { kind: 'interval', everyMs, anchorAt },
    job: job.name,
    queue: job.queue,
    payload: null,
    priority: job.priority,
    policy: job.policy,
    catchUp: CATCH_UP,
    firing: FIRING,
    description: '',
    tags: [],
    metadata: null,
    source: 'api',
  },
})

/** `count` schedules of one second each, their due instants spread evenly over the second. */
export function everySecond(count, job, now) {
  const base = Math.ceil(now / 1000) * 1000
  return Array.from({ length: count }, (_, i) => {
    const anchorAt = base + Math.floor((i * 1000) / count)
    return putOf({ key: `second-${i}`, everyMs: 1000, anchorAt, job, now })
  })
}
