/** The background tasks around alerts and when each is due: looking, a sign of life outward while looking goes well, and sending. */
import { hostname } from 'node:os'
import { POLL_MS } from '../../observe/watch.ts'
import type { BackgroundTask } from '../background-tasks.ts'
import type { Parts } from '../parts.ts'
import { createAlerter } from './alerter.ts'
import { sendHeartbeat } from './heartbeat.ts'
import { createMemory } from './memory.ts'
import { createNotifier, type Notifier } from './notifier.ts'

/** Between two looks for something to send: a look by index, mostly in vain. */
const SEND_MS = 2000

type Needed = Pick<Parts, 'core' | 'settings'>

export function alertingTasks(parts: Needed): readonly BackgroundTask[] {
  return [evaluationTask(parts), notificationTask(parts)]
}

function evaluationTask({ core, settings: { heartbeat } }: Needed): BackgroundTask {
  const { clock } = core
  const onError = (where: string, retryInMs: number) => (error: unknown) =>
    core.hub.tell({ kind: 'engine.error', where, error, retryInMs })
  const memory = createMemory()
  let pollAt = Number.NEGATIVE_INFINITY
  let heartbeatAt = Number.NEGATIVE_INFINITY
  let isHealthy = false
  let beating = false
  let isHeartbeatFailing = false

  const reportPresence = (url: string, everyMs: number): void => {
    heartbeatAt = clock.elapsed() + everyMs
    beating = true
    // Not waited for: an address that hangs must not cost the lease.
    void sendHeartbeat(url)
      .then((error) => {
        if (error) onError('heartbeat', everyMs)(error)
        else if (isHeartbeatFailing) core.hub.tell({ kind: 'engine.recovered', where: 'heartbeat' })
        isHeartbeatFailing = error !== null
      })
      .finally(() => {
        beating = false
      })
  }

  return {
    name: 'alerter',
    async pass(store) {
      if (clock.elapsed() >= pollAt) {
        isHealthy = false
        const told = onError('alerter', POLL_MS)
        const options = { store, clock, node: hostname(), newId: core.newId, onError: told, memory }
        const passed = await createAlerter(options).pass()
        // The sign of life is the fleet's: a rule of one workspace that cannot be read must not end it.
        isHealthy = passed.fleet
        // A pass in which a rule could not be read does not fail, so the loop does not see that it recovers.
        if (passed.all) core.hub.tell({ kind: 'engine.recovered', where: 'alerter' })
        pollAt = clock.elapsed() + POLL_MS
      }
      if (heartbeat && isHealthy && !beating && clock.elapsed() >= heartbeatAt)
        reportPresence(heartbeat.url, heartbeat.everyMs)
      const nextAt = heartbeat && isHealthy && !beating ? Math.min(pollAt, heartbeatAt) : pollAt
      return Math.max(1, nextAt - clock.elapsed())
    },
  }
}

function notificationTask({ core, settings: { allowPrivate } }: Needed): BackgroundTask {
  const voice = { clock: core.clock, logger: core.settings.logger, allowPrivate }
  let notifier: Notifier | null = null
  const onError = (error: unknown): void => {
    core.hub.tell({ kind: 'engine.error', where: 'notifier', error, retryInMs: SEND_MS })
  }
  return {
    name: 'notifier',
    async pass(store) {
      // One for all passes: it knows which channels it is still speaking to.
      notifier ??= createNotifier({ store, voice, timers: core.timers, onError })
      await notifier.pass()
      return SEND_MS
    },
  }
}
