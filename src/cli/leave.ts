/** Ends the process once its output is written, and by force when user code keeps it alive; the caller sets the exit code. */
import { subscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { sayLast } from './last-word.ts'
import { openResourcesText } from './open-resources.ts'

/** For handles that are closing. A process that nothing keeps alive exits earlier. */
const GRACE_MS = 500

const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    // A slow reader gets everything; do not wait for a reader that has closed the pipe.
    if (stream.writableLength === 0 || stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })

const outputWritten = (): Promise<unknown> => Promise.all([written(process.stdout), written(process.stderr)])

/** Running worker threads, which Node does not list among its resources. */
const threads = new Set<Worker>()

/** Resources open before user code runs; touches the streams first, because Node creates them on first access. */
export const openNow = (): readonly string[] => {
  void [process.stdout, process.stderr]
  subscribe('worker_threads', (message) => {
    const { worker } = message as { worker: Worker }
    // Node runs loader hooks in this kind of worker.
    if (worker.constructor.name === 'InternalWorker') return
    threads.add(worker)
    worker.once('exit', () => threads.delete(worker))
  })
  return process.getActiveResourcesInfo()
}

/** `atStart` lists the resources open before user code ran. */
export async function leave(atStart: readonly string[]): Promise<void> {
  await outputWritten()
  // Unreferenced: the timer fires only if something else keeps the process alive.
  setTimeout(() => {
    const names = [...process.getActiveResourcesInfo(), ...Array.from(threads, () => 'Worker')]
    const open = openResourcesText(names, atStart)
    sayLast({
      level: 'warn',
      message:
        `still open when the command ended: ${open}. The process exits anyway. ` +
        'Close it in your code when the app stops, or call unref() on it.',
    })
    void outputWritten().then(() => process.exit())
  }, GRACE_MS).unref()
}
