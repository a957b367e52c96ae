/** plainjob, as its documentation shows it; `full` makes its commits as durable as ours, which it leaves out by itself. */
import Database from 'better-sqlite3'
import { better, defineQueue, defineWorker } from 'plainjob'

const TYPE = 'noop'
const logger = { debug() {}, info() {}, warn() {}, error: console.error }
export const settings = { pollIntervall: 10, journal_mode: 'wal', synchronous: 'normal, or full where it says so' }

/** Its share of the schedules to create: there is no call for many. */
export const createScale = 1 / 20
export const absences = { 'schedules due at once': 'every schedule is a job type, which needs a worker of its own' }

export async function open({ where, full }) {
  const connection = better(new Database(where))
  const queue = defineQueue({ connection, logger })
  if (full) connection.pragma('synchronous = full')
  const open = connection.prepare('select exists(select 1 from plainjob_jobs where status in (0, 1)) as it')
  return {
    async enqueueBulk(count) {
      for (let left = count; left > 0; left -= 1000) queue.addMany(TYPE, Array(Math.min(left, 1000)).fill({}))
    },
    async enqueueOne() {
      queue.add(TYPE, {})
    },
    async work(told) {
      const worker = defineWorker(TYPE, () => told(), { queue, logger, pollIntervall: settings.pollIntervall })
      worker.start().catch(console.error)
      return () => worker.stop()
    },
    left: async () => open.get().it === 1,
    /** Each is a job type of its own: it has no other key. There is no call for many. */
    async createSchedules(from, count) {
      for (let i = from; i < from + count; i++) queue.schedule(`hourly-${i}`, { cron: `${i % 60} * * * *` })
    },
    async close() {
      queue.close()
    },
  }
}
