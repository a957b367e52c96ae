/** sidequest in one process without threads, which is the quickest it offers for SQLite; its schedules live in memory, so that none are created. */
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { Sidequest } from 'sidequest'
import { inGroups } from '../../core/turns.mjs'
import { anyLeft } from '../left.mjs'
import { Noop, onJob } from './sidequest-jobs.mjs'

export const settings = {
  fork: false,
  runner: 'inline',
  maxConcurrentJobs: 100,
  jobPollingInterval: 10,
  manualJobResolution: true,
}

export const absences = {
  'schedules due at once': 'its schedules live in memory',
  'create schedules': 'its schedules live in memory',
}

export async function open(place) {
  const afterCreate = (connection, done) => {
    connection.pragma('journal_mode = wal')
    done(null, connection)
  }
  const config = {
    ...settings,
    backend: {
      driver: '@sidequest/sqlite-backend',
      config: { connection: { filename: place.where }, pool: { min: 1, max: 1, afterCreate } },
    },
    queues: [{ name: 'default', concurrency: settings.maxConcurrentJobs }],
    jobsFilePath: fileURLToPath(new URL('./sidequest-jobs.mjs', import.meta.url)),
    dashboard: { enabled: false },
    gracefulShutdown: false,
    logger: { level: 'error' },
  }
  await Sidequest.configure(config)
  const unfinished = `select 1 from sidequest_jobs where state <> 'completed'`
  const left = await anyLeft(place, unfinished, (path) => new Database(path))
  const enqueueOne = () => Sidequest.build(Noop).enqueue()
  return {
    /** There is no call for many. */
    enqueueBulk: (count) => inGroups({ total: count, group: 1, inFlight: 100 }, enqueueOne),
    enqueueOne,
    async work(told) {
      onJob(told)
      await Sidequest.start(config)
      return async () => {
        await Sidequest.stop()
        await Sidequest.configure(config)
      }
    },
    left: left.ask,
    async close() {
      await left.close()
      await Sidequest.stop()
    },
  }
}
