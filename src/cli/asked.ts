/** Waits until somebody asks the program to end: Ctrl-C, SIGTERM, or a time that is over. */
import { systemClock } from '../time/clock.ts'
import { systemTimers } from '../time/timers.ts'

/** npm passes a Ctrl-C on to a program that the terminal has already told, so that one key press arrives twice. */
const ONE_PRESS_MS = 1000

/** Resolves on the first Ctrl-C or SIGTERM, or when the time is over; another press after that ends the process at once. */
export function asked(seconds?: number): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null
    const onSignal = (): void => {
      firstAt ??= systemClock.elapsed()
      if (systemClock.elapsed() - firstAt > ONE_PRESS_MS) process.exit(130)
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
    if (seconds !== undefined) systemTimers.set(seconds * 1000, resolve)
  })
}
