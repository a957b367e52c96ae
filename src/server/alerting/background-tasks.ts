/** The background tasks of alerting: evaluate rules, send the heartbeat while that works, send notifications. */
import { hostname } from 'node:os'
import { POLL_MS } from '../../observe/watch.ts'
import type { BackgroundTask } from '../background-tasks.ts'
import type { Parts } from '../parts.ts'
import { createAlerter } from './alerter.ts'
import { sendHeartbeat } from './heartbeat.ts'
import { createMemory } from './memory.ts'
import { createNotifier, type Notifier } from './notifier.ts'

/** The poll interval for notifications to send: an index lookup, mostly without a result. */
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
    // Not awaited: an address that hangs must not cost the lease.
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
        // The heartbeat depends on fleet rules only: an unreadable rule of one workspace must not stop it.
        isHealthy = passed.fleet
        // A pass with an unreadable rule does not fail, so the loop does not report its recovery.
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
      // One instance for all passes, because it tracks the channels with a message in flight.
      notifier ??= createNotifier({ store, voice, timers: core.timers, onError })
      await notifier.pass()
      return SEND_MS
    },
  }
}
