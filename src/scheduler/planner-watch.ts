/** Logs a warning in a worker-only process whose code declares schedules while no live process plans them. */
import type { Store } from '../store/contract/store.ts'
import { isAlive } from '../store/contract/workers.ts'
import type { Core } from './core.ts'

const CHECK_MS = 30_000
/** Processes of one deployment start at the same time; a planner may take this long to start. */
const START_MS = 10_000

/** Checks now, again after a start, and every half minute until the app stops; logs each change. */
export function watchPlanner({ store, settings, timers, onStop }: Core): void {
  const { logger, schedules } = settings
  let cancelTimer = (): void => {}
  let stopped = false
  let isPlanned = true
  let isStarting = true

  /** Returns the delay until the next check. */
  const check = async (): Promise<number> => {
    const found = await hasPlanner(await store())
    const waits = isStarting && !found
    isStarting = false
    if (waits) return START_MS
    if (!stopped && found !== isPlanned) tell(found)
    return CHECK_MS
  }
  const tell = (found: boolean): void => {
    isPlanned = found
    if (found) logger.info('a live process now plans schedules')
    else
      logger.warn(`no process plans: ${declaredText(schedules.length)} no runs`, {
        hint: 'start "everytick serve", "everytick worker --plan", or app.start() without a role',
      })
  }
  const checkAgainIn = (ms: number): void => {
    if (!stopped) cancelTimer = timers.set(ms, next)
  }
  // The loops of the engine report a database that is down.
  let checking = Promise.resolve()
  const next = (): void => {
    checking = check()
      .catch(() => CHECK_MS)
      .then(checkAgainIn)
  }
  next()
  const unsubscribe = onStop(() => {
    stopped = true
    cancelTimer()
    unsubscribe()
    return checking
  })
}

const declaredText = (count: number): string =>
  count === 1 ? 'the 1 schedule of this code creates' : `the ${count} schedules of this code create`

async function hasPlanner(store: Store): Promise<boolean> {
  const [workers, now] = await Promise.all([store.workers.list(), store.now()])
  return workers.some((worker) => isAlive(worker, now) && worker.roles.includes('scheduler'))
}
