/** Lets the apps of a process give back their runs when an error that no code caught ends it; whether such an error ends the process stays Node's decision, or that of the user's listeners. */
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
 * Node calls this before it looks for listeners, and ends the process when it finds none. So ours is added only now, and only where there is
 * no other: tools that ask whether the user has a listener find none. An unhandled rejection comes here when it would end the process too.
 */
function onUncaught(error: unknown): void {
  if (process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback()) return
  // Keeps the process alive until the runs are given back. Later errors follow from the first, such as those of aborted handlers.
  process.on('uncaughtException', () => {})
  const all = [...engines]
  const uncaught = uncaughtIn(all, error)
  const inProgress = all.reduce((sum, engine) => sum + engine.inProgress().length, 0)
  process.stderr.write(uncaughtText(uncaught, { name: currentRun() ?? null, inProgress }))
  void Promise.allSettled(all.map((engine) => engine.interrupt(uncaught))).then(() => process.exit(1))
}

/** To be called by the listener of the error: the code at work is then that of the run that threw. */
export function uncaughtIn(engines: readonly Interruptible[], error: unknown): Uncaught {
  const id = currentRun()?.id
  const thrower = engines.flatMap((engine) => engine.inProgress()).find((run) => run.id === id)
  return { error, thrower: thrower ?? null }
}
