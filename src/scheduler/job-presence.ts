/** Says now and then, in the store, that a worker with these jobs lives, so that a job whose last worker has gone is noticed; which process executes a run does not depend on it. */

import type { Core } from './core.ts'
import { refreshJobs } from './published-jobs.ts'

/** Between two looks; what another worker has refreshed since is left alone. */
const POLL_MS = 1_200_000

/** From now on until the app stops. */
export function keepJobsPresent({ store, settings, timers, onStop }: Core): void {
  let cancelTimer = (): void => {}
  let stopped = false
  let refreshing = Promise.resolve()
  const later = (): void => {
    if (!stopped) cancelTimer = timers.set(POLL_MS, refresh)
  }
  const refresh = (): void => {
    refreshing = store()
      .then((opened) => refreshJobs(opened, settings.ownJobs.keys()))
      // A store that is away is reported by the loops of the engine.
      .catch(() => {})
      .then(later)
  }
  later()
  const unsubscribe = onStop(() => {
    stopped = true
    cancelTimer()
    unsubscribe()
    return refreshing
  })
}
