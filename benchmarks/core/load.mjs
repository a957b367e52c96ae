/** What the load consists of: the jobs, the runs and the schedules of every measurement; how fast they go is measured elsewhere. */
import { defineJob } from 'everytick'
import { systemClock } from '../../dist/time/clock.js'
import { uuidGenerator } from '../../dist/uuid.js'

/** Ids in order, as the product makes them: random ones would make every index dearer. */
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

/** How many runs one process works on at once. */
export const CONCURRENCY = 50
export const CATCH_UP = { catchUp: 'latest', windowMs: 86_400_000, limit: 100 }

const ZONES = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Tokyo']

/** Hourly, each with one occurrence within any hour, over zones and minutes. */
export const hourly = (key, i) => ({
  key: `hourly-${key}-${i}`,
  cron: `${i % 60} * * * *`,
  timezone: ZONES[i % ZONES.length],
  job: noop,
})

/** `count` schedules of one second each, their due instants spread evenly over the second, ready to be put. */
export function everySecond(count, job, now) {
  const base = Math.ceil(now / 1000) * 1000
  return Array.from({ length: count }, (_, i) => {
    const anchorAt = base + Math.floor((i * 1000) / count)
    return {
      id: newId(),
      nextAt: anchorAt,
      watermarkAt: now,
      definition: {
        workspace: 'default',
        key: `second-${i}`,
        timing: { kind: 'interval', everyMs: 1000, anchorAt },
        job: job.name,
        queue: job.queue,
        payload: null,
        priority: job.priority,
        policy: job.policy,
        catchUp: CATCH_UP,
        description: '',
        tags: [],
        metadata: null,
        source: 'api',
      },
    }
  })
}

/** A prime, so that neighbours by id are not neighbours in time. */
const STRIDE = 7919

/** When the `i`th of `count` seeded schedules is first due; `everyMs` is the interval of each, over which they are spread. */
export const seededAt = (i, { count, everyMs, firstAt }) =>
  firstAt + Math.floor((((i * STRIDE) % count) * everyMs) / count)
