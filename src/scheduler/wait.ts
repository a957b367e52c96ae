/** Waits until a run has ended: told at once when it ends in this process, and looks now and then because it may end in another. */
import { EverytickError } from '../errors.ts'
import type { RunState } from '../run/state.ts'
import { type Core, notRunning } from './core.ts'
import type { RunView } from './run-view.ts'

export interface Wait {
  readonly id: string
  /** Reads the run, or throws. */
  look(): Promise<RunView>
  readonly timeoutMs?: number
}

const ENDED: ReadonlySet<RunState> = new Set(['succeeded', 'failed', 'cancelled', 'skipped', 'missed'])
const FIRST_LOOK_MS = 50
const LAST_LOOK_MS = 2000

export function waitForEnd(core: Core, { id, look, timeoutMs }: Wait): Promise<RunView> {
  return new Promise((resolve, reject) => {
    let pauseMs = FIRST_LOOK_MS
    let over = false
    let cancelLook = (): void => {}
    const end = (finish: () => void): void => {
      if (over) return
      over = true
      cancelLook()
      for (const release of releases) release()
      finish()
    }
    const check = async (): Promise<void> => {
      cancelLook()
      try {
        const run = await look()
        if (ENDED.has(run.state)) return end(() => resolve(run))
      } catch (error) {
        return end(() => reject(error))
      }
      if (over) return
      cancelLook()
      cancelLook = core.timers.set(pauseMs, check)
      pauseMs = Math.min(LAST_LOOK_MS, pauseMs * 2)
    }
    const releases = [
      core.hub.onEnd(id, () => void check()),
      core.onStop(() => end(() => reject(notRunning()))),
      timeoutMs === undefined ? () => {} : core.timers.set(timeoutMs, () => end(() => reject(tooLong(id, timeoutMs)))),
    ]
    void check()
  })
}

const tooLong = (id: string, timeoutMs: number): EverytickError =>
  new EverytickError('WAIT_TIMEOUT', `run ${id} has not ended after ${timeoutMs} ms`, {
    hint: 'it goes on; wait again, or look at it with app.runs.get()',
  })
