/** Ours, from `dist`, by the same door that a user takes; the store is the one the place names. */
import { defineJob, everytick } from '../../../dist/index.js'
import { openAt } from '../../core/address.mjs'
import { CONCURRENCY, hourly } from '../../core/load.mjs'
import { inGroups } from '../../core/turns.mjs'
import { anyLeft } from '../left.mjs'

const GROUPS = { group: 1000, inFlight: 2 }
/** Runs in one call on Postgres, as many as its rivals there are given. */
const LIST = 5000
/** Only what would spoil the measurement. */
const logger = { debug() {}, info() {}, warn() {}, error: console.error }

export async function open(place) {
  const store = await openAt(place)
  let onJob = () => {}
  const noop = defineJob({ name: 'noop', run: () => onJob() })
  const options = { store, jobs: [noop], queues: { default: CONCURRENCY }, logger }
  const app = everytick(options)
  const postgres = place.kind === 'postgres'
  const left = await anyLeft(place, postgres ? 'select 1 from everytick.runs' : 'select 1 from everytick_runs')
  return {
    enqueueBulk: (count) =>
      inGroups({ ...GROUPS, group: postgres ? LIST : GROUPS.group, total: count }, (size) =>
        app.enqueueMany(
          noop,
          Array.from({ length: size }, () => ({})),
        ),
      ),
    enqueueOne: () => app.enqueue(noop),
    async work(told) {
      onJob = told
      const worker = everytick(options)
      await worker.start({ role: 'worker' })
      return () => worker.stop()
    },
    left: left.ask,
    createSchedules(from, count) {
      let made = from
      const create = (size) =>
        app.schedules.upsertMany(Array.from({ length: size }, () => ({ ...hourly('race', made++), job: noop })))
      return inGroups({ ...GROUPS, total: count }, create)
    },
    backlog: {
      sizes: [1000, 10_000],
      createsPerSecond: 2000,
      async start({ count, dueAt, name }, told) {
        const cron = `${dueAt.getUTCSeconds()} ${dueAt.getUTCMinutes()} ${dueAt.getUTCHours()} * * *`
        onJob = told
        let made = 0
        await inGroups({ ...GROUPS, total: count }, (size) =>
          app.schedules.upsertMany(Array.from({ length: size }, () => ({ key: `${name}-${made++}`, cron, job: noop }))),
        )
        const process = everytick(options)
        await process.start()
        return () => process.stop()
      },
    },
    async close() {
      await app.stop()
      await left.close()
      await store.close()
    },
  }
}
