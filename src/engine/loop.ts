/** One shape for everything that repeats: a pass that says when the next is due, never two at once, backing off when it fails. */
import type { Timers } from '../time/timers.ts'

export interface Loop {
  /** Starts at once; starting twice is starting once. */
  start(): void
  /** Runs the next pass now, or right after the one in flight. */
  wake(): void
  /** No further pass; resolves when the one in flight has ended. Stopping twice is stopping once. */
  stop(): Promise<void>
}

export interface LoopOptions {
  readonly timers: Timers
  /** Does one pass and answers in how many milliseconds the next is due; `Infinity` when there was nothing to do until it is woken. */
  readonly pass: () => Promise<number>
  readonly onError: (error: unknown, retryInMs: number) => void
  /** Called with the first pass that succeeds after one that failed; one that had nothing to do shows nothing. */
  readonly onRecovery?: (() => void) | undefined
}

const FIRST_RETRY_MS = 50
/** Every loop is back within five seconds after the database is. */
const LAST_RETRY_MS = 2000

export function createLoop({ timers, pass, onError, onRecovery }: LoopOptions): Loop {
  let running: Promise<void> | null = null
  let cancelTimer: (() => void) | null = null
  let started = false
  let woken = false
  let failures = 0
  let isRecovered = true

  const once = async (): Promise<number> => {
    try {
      const delay = await pass()
      failures = 0
      if (!isRecovered && Number.isFinite(delay)) {
        isRecovered = true
        onRecovery?.()
      }
      return delay
    } catch (error) {
      isRecovered = false
      const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures++)
      onError(error, delay)
      return delay
    }
  }

  const go = (): void => {
    cancelTimer?.()
    cancelTimer = null
    if (!started || running) return
    woken = false
    running = once().then((delay) => {
      running = null
      if (!started) return
      // A failing pass is not hurried by hints, or a dead database would be asked in a tight loop.
      if (woken && failures === 0) go()
      else if (Number.isFinite(delay)) cancelTimer = timers.set(delay, go)
    })
  }

  return {
    start() {
      if (started) return
      started = true
      go()
    },
    wake() {
      if (!started) return
      woken = true
      if (failures === 0) go()
    },
    async stop() {
      started = false
      cancelTimer?.()
      cancelTimer = null
      await running
    },
  }
}
