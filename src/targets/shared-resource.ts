/**
 * Opens something when it is first needed, lends it to all who ask meanwhile, and closes it when nobody has had it for a
 * while: so that a process that has stopped its app can end, without anybody telling the targets.
 */
import { systemTimers, type Timers } from '../time/timers.ts'

export interface SharedResource<Thing> {
  readonly open: () => Promise<Thing>
  /** Must not reject. */
  readonly close: (thing: Thing) => Promise<void>
  readonly idleMs: number
  readonly timers?: Timers
}

/** Answers a function that lends the thing for as long as some work takes. */
export function shareResource<Thing>({ open, close, idleMs, timers = systemTimers }: SharedResource<Thing>) {
  let thing: Promise<Thing> | null = null
  let borrowers = 0
  let stay = (): void => {}

  const give = (): void => {
    if (--borrowers > 0 || thing === null) return
    const idle = thing
    stay = timers.set(idleMs, () => {
      thing = null
      idle.then(close, () => {})
    })
  }

  return async <Result>(work: (thing: Thing) => Promise<Result>): Promise<Result> => {
    stay()
    borrowers++
    try {
      thing ??= open()
      const opening = thing
      // Whatever was in the way may be gone when the next one asks.
      opening.catch(() => {
        if (thing === opening) thing = null
      })
      return await work(await opening)
    } finally {
      give()
    }
  }
}
