/** BullMQ on Redis, or on Postgres where its place is one: a hundred jobs at once, finished ones removed. */
import * as bullmq from 'bullmq'
import { inGroups } from '../../core/turns.mjs'

const NAME = 'noop'
/** Its share of the schedules to create: there is no call for many. */
export const createScale = 1 / 5
export const settings = { concurrency: 100, removeOnComplete: true, redis: 'appendonly yes, appendfsync everysec' }

/** On Postgres it opens a pool for whatever it makes: room for all that it does at once. */
const SIDES = {
  redis: (where) => ({ ...bullmq, connection: { path: where, maxRetriesPerRequest: null } }),
  postgres: (where) => ({
    ...bullmq.withBackend(bullmq.createPostgresBackend),
    connection: { connectionString: where, max: 20, migrate: true },
  }),
}

export async function open({ kind, where }) {
  const { Queue, Worker, connection } = SIDES[kind](where)
  const queue = new Queue(NAME, { connection, defaultJobOptions: { removeOnComplete: true } })
  queue.on('error', console.error)
  await queue.waitUntilReady()
  const work = async (told) => {
    const worker = new Worker(NAME, async () => told(), { connection, concurrency: settings.concurrency })
    worker.on('error', console.error)
    await worker.waitUntilReady()
    return () => worker.close()
  }
  return {
    enqueueBulk: (count) =>
      inGroups({ total: count, group: 1000, inFlight: 2 }, (size) =>
        queue.addBulk(Array.from({ length: size }, () => ({ name: NAME, data: {} }))),
      ),
    enqueueOne: () => queue.add(NAME, {}),
    work,
    async left() {
      const { wait, active } = await queue.getJobCounts('wait', 'active')
      return wait + active > 0
    },
    createSchedules(from, count) {
      let made = from
      const create = () =>
        queue.upsertJobScheduler(`hourly-${made}`, { pattern: `${made++ % 60} * * * *` }, { name: NAME, data: {} })
      return inGroups({ total: count, group: 1, inFlight: 100 }, create)
    },
    absences: kind === 'redis' ? {} : { 'schedules due at once': 'creates some hundred schedules a second' },
    backlog: {
      sizes: kind === 'redis' ? [1000, 10_000] : [],
      createsPerSecond: 1000,
      async start({ count, dueAt, name }, told) {
        const pattern = `${dueAt.getUTCSeconds()} ${dueAt.getUTCMinutes()} ${dueAt.getUTCHours()} * * *`
        let made = 0
        const create = () =>
          queue.upsertJobScheduler(`${name}-${made++}`, { pattern, tz: 'UTC' }, { name: NAME, data: {} })
        await inGroups({ total: count, group: 1, inFlight: 100 }, create)
        return work(told)
      },
    },
    close: () => queue.close(),
  }
}
