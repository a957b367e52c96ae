/** The readiness check: whether the database responds in time. Calls within half a second share one query. */
import type { Core } from '../scheduler/core.ts'
import { Refusal } from './problem.ts'

/** The query timeout; a timeout counts as not ready, and the next probe follows soon. */
const WAIT_LIMIT_MS = 2000
/** Any number of probes costs the database at most two queries a second. */
const FRESH_MS = 500

/** Throws UNAVAILABLE without details, because the probe needs no authentication. */
export type CheckReady = () => Promise<void>

export function createReadiness({ clock, store, timers }: Pick<Core, 'clock' | 'store' | 'timers'>): CheckReady {
  let asking: Promise<boolean> | null = null
  let readyAt: number | null = null

  const ask = async (): Promise<boolean> => {
    let forget = (): void => {}
    const late = new Promise<false>((resolve) => {
      forget = timers.set(WAIT_LIMIT_MS, () => resolve(false))
    })
    const answer = store().then((opened) => opened.now())
    const isReady = await Promise.race([
      answer.then(
        () => true as const,
        () => false as const,
      ),
      late,
    ])
    forget()
    readyAt = isReady ? clock.elapsed() : null
    return isReady
  }

  return async () => {
    if (readyAt !== null && clock.elapsed() - readyAt < FRESH_MS) return
    asking ??= ask().finally(() => {
      asking = null
    })
    if (!(await asking)) throw new Refusal('UNAVAILABLE', 'not ready', { headers: { 'retry-after': '1' } })
  }
}
