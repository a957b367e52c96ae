/** Polls something until it ends or the user presses Ctrl-C. */
import { systemTimers } from '../time/timers.ts'
import { EXIT } from './exit.ts'
import { UsageError } from './usage-error.ts'

export interface Watching<Seen> {
  readonly look: () => Promise<Seen>
  readonly isOver: (seen: Seen) => boolean
  readonly show: (seen: Seen) => void
}

const PAUSE_MS = 300
const MAX_FAILURES = 20

/** Returns the last state; `detached` if Ctrl-C ended the watch, also during a request. */
export async function watched<Seen>({ look, isOver, show }: Watching<Seen>): Promise<Seen | 'detached'> {
  let leave = (): void => {}
  const left = new Promise<'detached'>((resolve) => {
    leave = () => resolve('detached')
  })
  process.once('SIGINT', leave)
  const patience = patient()
  try {
    for (;;) {
      const seen = await Promise.race([left, look().catch(patience.bear)])
      if (seen === 'detached') return seen
      if (seen !== undefined) {
        patience.renew()
        if (isOver(seen)) return seen
        show(seen)
      }
      if ((await Promise.race([left, pause()])) === 'detached') return 'detached'
    }
  } finally {
    process.removeListener('SIGINT', leave)
  }
}

export const pause = (): Promise<void> => new Promise((resolve) => void systemTimers.set(PAUSE_MS, resolve))

export interface RetryDelay {
  /** Returns if the watch may retry after this error; otherwise throws it. */
  bear(error: unknown): undefined
  /** Call it after a success. */
  renew(): void
}

/** A restarting server responds again soon, so only a rejected request or repeated failures end the watch. */
export function patient(): RetryDelay {
  let failures = 0
  return {
    bear(error) {
      if (!(error instanceof UsageError) || error.exit !== EXIT.failed || ++failures > MAX_FAILURES) throw error
      return undefined
    },
    renew() {
      failures = 0
    },
  }
}
