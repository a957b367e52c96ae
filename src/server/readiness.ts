/** Decides whether this process can work now: its database answers, and soon. All who ask within half a second share one read; who asks, and over what, is decided by others. */
import type { Core } from '../scheduler/core.ts'
import { Refusal } from './problem.ts'

/** A probe decides by the answer, and soon asks again: no answer is one too. */
const WAIT_LIMIT_MS = 2000
/** A backlog of probes costs the database two reads a second. */
const FRESH_MS = 500

/** Throws UNAVAILABLE when it cannot, and says no more: anybody may ask. */
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
