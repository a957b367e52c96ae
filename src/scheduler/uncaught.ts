/** Returns the runs of a process to their queues when an uncaught error ends it; Node or the user's listeners decide whether it ends. */
import { currentRun } from '../engine/current-run.ts'
import type { Engine } from '../engine/engine.ts'
import type { Uncaught } from '../engine/interruption.ts'
import { uncaughtText } from './uncaught-text.ts'

export type Interruptible = Pick<Engine, 'inProgress' | 'interrupt'>

const engines = new Set<Interruptible>()

/** Interrupts the engine when an error ends the process, until the returned function is called. */
export function interruptOnUncaught(engine: Interruptible): () => void {
  if (engines.size === 0) process.on('uncaughtExceptionMonitor', onUncaught)
  engines.add(engine)
  return () => {
    engines.delete(engine)
    if (engines.size === 0) process.off('uncaughtExceptionMonitor', onUncaught)
  }
}

/**
 * Node calls this before it looks for `uncaughtException` listeners, and ends the process when it finds none. So ours is added only
 * now, and only if there is no other: tools that check for a user's listener must not find ours. Unhandled rejections that end the
 * process come here too.
 */
function onUncaught(error: unknown): void {
  if (process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()) return
  // Keeps the process alive until the runs are returned. Later errors, such as those of aborted handlers, follow from the first.
  process.on('uncaughtException', () => {})
  const all = [...engines]
  const uncaught = uncaughtIn(all, error)
  const inProgress = all.reduce((sum, engine) => sum + engine.inProgress().length, 0)
  process.stderr.write(uncaughtText(uncaught, { name: currentRun() ?? null, inProgress }))
  void Promise.allSettled(all.map((engine) => engine.interrupt(uncaught))).then(() => process.exit(1))
}

/** Must be called inside the error listener, where the current async context is that of the run that threw. */
export function uncaughtIn(engines: readonly Interruptible[], error: unknown): Uncaught {
  const id = currentRun()?.id
  const thrower = engines.flatMap((engine) => engine.inProgress()).find((run) => run.id === id)
  return { error, thrower: thrower ?? null }
}
