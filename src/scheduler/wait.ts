/** Waits for the end of a run or a backfill: by an event if it ends in this process, and by polling because it may end in another. */
import { type Core, notRunning } from './core.ts'

export interface Wait<Seen> {
  /** Reads the current state, or throws. */
  look(): Promise<Seen>
  hasEnded(seen: Seen): boolean
  /** A run whose end in this process triggers a check. */
  readonly run?: string
  readonly timeoutMs?: number | undefined
  /** The error to throw after the timeout. */
  tooLong(timeoutMs: number): Error
}

const FIRST_POLL_MS = 50
const LAST_POLL_MS = 2000

export function waitForEnd<Seen>(core: Core, wait: Wait<Seen>): Promise<Seen> {
  const { run, timeoutMs } = wait
  return new Promise((resolve, reject) => {
    let pauseMs = FIRST_POLL_MS
    let over = false
    let cancelPoll = (): void => {}
    const end = (finish: () => void): void => {
      if (over) return
      over = true
      cancelPoll()
      for (const release of releases) release()
      finish()
    }
    const check = async (): Promise<void> => {
      cancelPoll()
      try {
        const seen = await wait.look()
        if (wait.hasEnded(seen)) return end(() => resolve(seen))
      } catch (error) {
        return end(() => reject(error))
      }
      if (over) return
      cancelPoll()
      cancelPoll = core.timers.set(pauseMs, check)
      pauseMs = Math.min(LAST_POLL_MS, pauseMs * 2)
    }
    const releases = [
      run === undefined ? () => {} : core.hub.onEnd(run, () => void check()),
      core.onStop(() => end(() => reject(notRunning()))),
      timeoutMs === undefined ? () => {} : core.timers.set(timeoutMs, () => end(() => reject(wait.tooLong(timeoutMs)))),
    ]
    void check()
  })
}
