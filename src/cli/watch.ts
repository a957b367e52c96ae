/** Looks at something again and again until it is over, or until Ctrl-C says that nobody needs to see more. */
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

/** The last that was seen; `detached` when Ctrl-C ended it, also while an answer is waited for. */
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
  /** Returns when this can be borne once more, and throws it otherwise. */
  bear(error: unknown): undefined
  /** After a success. */
  renew(): void
}

/** A server that is being replaced answers again soon: only what fails for long, or was refused, ends the watching. */
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
