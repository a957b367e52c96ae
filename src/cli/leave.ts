/** Ends the process after its last word: once its output is written, and by force when the user's code keeps it alive; the exit code is the caller's. */
import { subscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { sayLast } from './last-word.ts'
import { openResourcesText } from './open-resources.ts'

/** For handles that are closing. A process that nothing keeps alive ends by itself before. */
const GRACE_MS = 500

const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    // A reader that is slow gets everything; one that has gone gets nothing, and is no reason to wait.
    if (stream.writableLength === 0 || stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })

const outputWritten = (): Promise<unknown> => Promise.all([written(process.stdout), written(process.stderr)])

/** Worker threads that run; Node does not list them among its resources. */
const threads = new Set<Worker>()

/** What the process itself holds, asked before any code of the user runs; the streams are made when they are first touched. */
export const openNow = (): readonly string[] => {
  void [process.stdout, process.stderr]
  subscribe('worker_threads', (message) => {
    const { worker } = message as { worker: Worker }
    // In which Node itself keeps the hooks of loaders.
    if (worker.constructor.name === 'InternalWorker') return
    threads.add(worker)
    worker.once('exit', () => threads.delete(worker))
  })
  return process.getActiveResourcesInfo()
}

/** `atStart` is what was open before any code of the user ran. */
export async function leave(atStart: readonly string[]): Promise<void> {
  await outputWritten()
  // Without a reference: it rings only in a process that something else keeps alive.
  setTimeout(() => {
    const names = [...process.getActiveResourcesInfo(), ...Array.from(threads, () => 'Worker')]
    const open = openResourcesText(names, atStart)
    sayLast({
      level: 'warn',
      message:
        `still open when the work was over: ${open}. The process exits all the same. ` +
        'Close it in your code when the app stops, or call unref() on it.',
    })
    void outputWritten().then(() => process.exit())
  }, GRACE_MS).unref()
}
