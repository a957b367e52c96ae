/** Waits for Ctrl-C, SIGTERM or a timeout; a second signal ends the process at once. */
import { systemClock } from '../time/clock.ts'
import { systemTimers } from '../time/timers.ts'
import { sayLast } from './last-word.ts'

/** npm forwards a Ctrl-C that the terminal has already sent to the program, so one key press arrives twice. */
const ONE_PRESS_MS = 500
/** The exit codes that shells use for these signals. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** Calls `onStop` in the handler of the first Ctrl-C or SIGTERM, or after `seconds`, then resolves. */
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
