/** On SIGTERM, stops the apps of the process before the signal ends it; a second SIGTERM ends it at once. */

const SIGNAL = 'SIGTERM'
const stops = new Set<() => Promise<void>>()

/** Calls `stop` on SIGTERM; returns a function that unsubscribes. */
export function stopOnSignal(stop: () => Promise<void>): () => void {
  if (stops.size === 0) process.once(SIGNAL, onSignal)
  stops.add(stop)
  return () => {
    stops.delete(stop)
    if (stops.size === 0) process.off(SIGNAL, onSignal)
  }
}

/** One listener for all apps, so that the process waits for the slowest of them. */
async function onSignal(): Promise<void> {
  await Promise.allSettled([...stops].map((stop) => stop()))
  // If the program has its own listeners for the signal, they decide when the process ends.
  if (process.listenerCount(SIGNAL) === 0) process.kill(process.pid, SIGNAL)
}
