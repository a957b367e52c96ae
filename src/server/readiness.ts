/** Decides whether this process can work now: its database answers, and soon; who asks, and over what, is decided by others. */
import type { Core } from '../scheduler/core.ts'
import { Refusal } from './problem.ts'

/** Whoever asks decides by the answer, and soon asks again: no answer is one too. */
const PATIENCE_MS = 2000

/** Throws UNAVAILABLE when it cannot. */
export async function checkReady({ store, timers }: Pick<Core, 'store' | 'timers'>): Promise<void> {
  let forget = (): void => {}
  const late = new Promise<never>((_, reject) => {
    forget = timers.set(PATIENCE_MS, () => reject(new Refusal('UNAVAILABLE', 'the database does not answer')))
  })
  try {
    await Promise.race([store().then((opened) => opened.now()), late])
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('UNAVAILABLE', 'the database cannot be reached', { headers: { 'retry-after': '1' } })
  } finally {
    forget()
  }
}
