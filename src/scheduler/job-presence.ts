/** Periodically records in the store that a worker has these jobs, so that a job without any worker is detected; claims do not depend on it. */

import type { Core } from './core.ts'
import { refreshJobs } from './published-jobs.ts'

/** The interval between two refreshes; jobs that another worker refreshed meanwhile are skipped. */
const POLL_MS = 1_200_000

/** Runs until the app stops. */
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
      // The loops of the engine report a database that is down.
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
