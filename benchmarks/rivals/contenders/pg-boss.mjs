/** pg-boss: batches of 1000 fetched by four workers without a pause while full, woken by NOTIFY. */
import { PgBoss } from 'pg-boss'
import { inGroups } from '../../core/turns.mjs'
import { anyLeft } from '../left.mjs'

const QUEUE = 'noop'
export const settings = { batchSize: 1000, burstWhenBatchFull: true, localConcurrency: 4, pollingIntervalSeconds: 0.5 }

/** Its share of the schedules to create: there is no call for many. */
export const createScale = 1 / 20
export const absences = { 'schedules due at once': 'fires by the minute, some ten schedules a second' }

/** A little cheaper than 1,000 at a time, and than longer lists. */
const LIST = 5000

export async function open(place) {
  // Its upkeep, and its look at all schedules, would run during the turns of others.
  const boss = new PgBoss({ connectionString: place.where, useListenNotify: true, supervise: false, schedule: false })
  boss.on('error', console.error)
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true })
  const left = await anyLeft(place, `select 1 from pgboss.job where name = '${QUEUE}' and state < 'completed'`)
  return {
    enqueueBulk: (count) =>
      inGroups({ total: count, group: LIST, inFlight: 2 }, (size) =>
        boss.insert(
          QUEUE,
          Array.from({ length: size }, () => ({ data: {} })),
        ),
      ),
    enqueueOne: () => boss.send(QUEUE, {}),
    async work(told) {
      await boss.work(QUEUE, settings, async (jobs) => {
        for (let i = 0; i < jobs.length; i++) told()
      })
      return () => boss.offWork(QUEUE, { wait: true })
    },
    left: left.ask,
    /** There is no call for many; ten at once, as many as its pool has connections. */
    createSchedules(from, count) {
      let made = from
      const create = () => boss.schedule(QUEUE, `${made % 60} * * * *`, null, { key: `hourly-${made++}`, tz: 'UTC' })
      return inGroups({ total: count, group: 1, inFlight: 10 }, create)
    },
    async close() {
      await left.close()
      await boss.stop({ graceful: false })
    },
  }
}
