/** Hints within this process at once, and from other connections by watching the file's change counter; polling stays the truth. */
import { clearInterval, setInterval } from 'node:timers'
import type { Hint, WakeStore } from '../contract/wake.ts'
import type { Connection } from './connection.ts'

export interface Wake extends WakeStore {
  /** To be called after the commit. */
  hint(hint: Hint): void
  stop(): void
}

const POLL_MS = 100
/** Changes when, and only when, another connection has committed. */
const VERSION = 'pragma data_version'
/** Empty for a database in memory, which has no other connections that could be heard. */
const FILE = `select file from pragma_database_list where name = 'main'`

/** `onNeighbour` is called when another connection is seen to write, before the hint. */
export function wakeOn(connection: Connection, onNeighbour: () => void): Wake {
  const listeners = new Set<(hint: Hint) => void>()
  let seen: number | undefined
  let timer: NodeJS.Timeout | undefined
  let canHear: boolean | undefined
  /** Whether the last look at what others do could be made. */
  let hears = false

  // Apart from the caller's own work: a listener that throws must not look like a write that failed.
  const hint = (what: Hint): void => {
    for (const listener of listeners) queueMicrotask(() => listeners.has(listener) && listener(what))
  }

  async function look(): Promise<void> {
    const [row] = await connection.read(() => {
      canHear ??= Boolean(connection.all<{ file: string | null }>(FILE)[0]?.file)
      return connection.all<{ data_version: number }>(VERSION)
    })
    hears = timer !== undefined && canHear === true
    const changed = seen !== undefined && row?.data_version !== seen
    seen = row?.data_version
    if (!changed) return
    onNeighbour()
    hint({ kind: 'all' })
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
    seen = undefined
    hears = false
  }

  return {
    hint,
    stop,
    // Ten looks a second miss no commit, so that a loop need not look by itself as often.
    hears: () => hears,
    async listen(onHint) {
      const listener = (what: Hint): void => onHint(what)
      listeners.add(listener)
      if (timer === undefined) {
        // A look that fails is made up for by the next, and by whoever polls.
        const failed = (): void => {
          hears = false
        }
        timer = setInterval(() => look().catch(failed), POLL_MS).unref()
        await look()
      }
      return async () => {
        listeners.delete(listener)
        if (listeners.size === 0) stop()
      }
    },
  }
}
