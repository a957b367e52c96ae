/** graphile-worker: a local queue of 500 for 24 jobs at once, ends written in batches; its schedules are a file, so that none are created. */
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { inGroups } from '../../core/turns.mjs'
import { anyLeft } from '../left.mjs'

export const settings = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}
const logger = new Logger(() => (level, message) => level === 'error' && console.error(message))

export async function open(place) {
  const utils = await makeWorkerUtils({ connectionString: place.where, logger })
  await utils.migrate()
  const left = await anyLeft(place, 'select 1 from graphile_worker._private_jobs')
  const worker = { ...settings, connectionString: place.where, logger }
  return {
    enqueueBulk: (count) =>
      inGroups({ total: count, group: 1000, inFlight: 2 }, (size) =>
        utils.addJobs(Array.from({ length: size }, () => ({ identifier: 'noop', payload: {} }))),
      ),
    enqueueOne: () => utils.addJob('noop', {}),
    async work(told) {
      const runner = await run({
        preset: { worker },
        taskList: { noop: async () => told() },
        parsedCronItems: [],
        noHandleSignals: true,
      })
      return () => runner.stop()
    },
    left: left.ask,
    async close() {
      await left.close()
      await utils.release()
    },
  }
}
