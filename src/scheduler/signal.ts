/** Stops the apps of a process when it is asked to end, and then lets it end as it would have; a second request ends it at once. */

const SIGNAL = 'SIGTERM'
const stops = new Set<() => Promise<void>>()

/** Calls back when the process is asked to end, until the answered function is called. */
export function stopOnSignal(stop: () => Promise<void>): () => void {
  if (stops.size === 0) process.once(SIGNAL, onSignal)
  stops.add(stop)
  return () => {
    stops.delete(stop)
    if (stops.size === 0) process.off(SIGNAL, onSignal)
  }
}

/** One listener for all apps, so that the process outlives the slowest of them. */
async function onSignal(): Promise<void> {
  await Promise.allSettled([...stops].map((stop) => stop()))
  // Others who listen to the signal have their own idea of when the process ends.
  if (process.listenerCount(SIGNAL) === 0) process.kill(process.pid, SIGNAL)
}
