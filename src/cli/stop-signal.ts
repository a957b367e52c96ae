/** Waits until somebody asks the program to end: Ctrl-C, SIGTERM, or a time that is over; a second signal ends the process at once. */
import { systemClock } from '../time/clock.ts'
import { systemTimers } from '../time/timers.ts'
import { sayLast } from './last-word.ts'

/** npm passes a Ctrl-C on to a program that the terminal has already told, so that one key press arrives twice. */
const ONE_PRESS_MS = 500
/** What a shell reports of a program that such a signal has ended. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** Calls `onStop` within the first Ctrl-C or SIGTERM, or when the time is over, and resolves then. */
export function waitForStop(seconds?: number, onStop: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null
    const end = (): void => {
      onStop()
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (firstAt === null) {
          firstAt = systemClock.elapsed()
          end()
        } else if (systemClock.elapsed() - firstAt > ONE_PRESS_MS) {
          sayLast({
            level: 'warn',
            message: `a second ${signal}: the process exits now, without waiting for its runs`,
          })
          process.exit(EXIT_CODES[signal])
        }
      })
    if (seconds !== undefined) systemTimers.set(seconds * 1000, end)
  })
}
