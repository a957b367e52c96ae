/** Warns in the log of a process that only works, when its code declares schedules and no live process plans; it decides nothing. */
import type { Store } from '../store/contract/store.ts'
import { isAlive } from '../store/contract/workers.ts'
import type { Core } from './core.ts'

const CHECK_MS = 30_000

/** Checks now and every half minute until the app stops; logs each change. */
export function watchPlanner({ store, settings, timers, onStop }: Core): void {
  const { logger, schedules } = settings
  let cancelTimer = (): void => {}
  let stopped = false
  let isPlanned = true

  const check = async (): Promise<void> => {
    const found = await hasPlanner(await store())
    if (stopped || found === isPlanned) return
    isPlanned = found
    if (found) logger.info('a process plans now')
    else
      logger.warn(`no process plans: ${declaredText(schedules.length)} no runs`, {
        hint: 'start "everytick serve", "everytick worker --plan", or app.start() without a role',
      })
  }
  const checkAgainLater = (): void => {
    if (!stopped) cancelTimer = timers.set(CHECK_MS, next)
  }
  // A store that is away is reported by the loops of the engine.
  let checking = Promise.resolve()
  const next = (): void => {
    checking = check()
      .catch(() => {})
      .then(checkAgainLater)
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
