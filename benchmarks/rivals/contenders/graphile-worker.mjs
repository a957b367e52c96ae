/** graphile-worker: a local queue of 500 for 24 jobs at once, ends written in batches; its schedules are a file, so that none are created. */
import { Logger, makeWorkerUtils, parseCronItems, run } from 'graphile-worker'
import { inGroups } from '../../core/turns.mjs'
import { anyLeft } from '../left.mjs'

export const settings = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
/** A tenth cheaper than 1,000 at a time; longer lists gave little more, within the noise. */
const LIST = 5000
const logger = new Logger(() => (level, message) => level === 'error' && console.error(message))

export const absences = { 'create schedules': 'its schedules are a file that is read at the start' }

export async function open(place) {
  const utils = await makeWorkerUtils({ connectionString: place.where, logger })
  await utils.migrate()
  const left = await anyLeft(place, 'select 1 from graphile_worker._private_jobs')
  const worker = { ...settings, connectionString: place.where, logger }
  const work = async (told, parsedCronItems = []) => {
    const taskList = { noop: async () => told() }
    const runner = await run({ preset: { worker }, taskList, parsedCronItems, noHandleSignals: true })
    return () => runner.stop()
  }
  return {
    enqueueBulk: (count) =>
      inGroups({ total: count, group: LIST, inFlight: 2 }, (size) =>
        utils.addJobs(Array.from({ length: size }, () => ({ identifier: 'noop', payload: {} }))),
      ),
    enqueueOne: () => utils.addJob('noop', {}),
    work,
    backlog: {
      sizes: [1000, 10_000],
      minutes: true,
      createsPerSecond: 2000,
      start({ count, dueAt, name }, told) {
        const match = `${dueAt.getUTCMinutes()} ${dueAt.getUTCHours()} * * *`
        const item = (_, i) => ({ task: 'noop', match, identifier: `${name}-${i}` })
        return work(told, parseCronItems(Array.from({ length: count }, item)))
      },
    },
    left: left.ask,
    async close() {
      await left.close()
      await utils.release()
    },
  }
}
