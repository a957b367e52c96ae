/** Writes the final message of the program, as a log entry if its log is JSON, so that log readers get only entries. */
import { logLine } from '../observe/log-text.ts'
import type { LogLevel } from '../observe/logger.ts'
import { systemClock } from '../time/clock.ts'

export interface LastWord {
  readonly level: LogLevel
  readonly message: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** Reads the raw arguments, because a rejected command has not parsed them. */
export const isLogJson = (args: readonly string[]): boolean =>
  args.some((arg, i) => arg === '--log-format=json' || (arg === '--log-format' && args[i + 1] === 'json'))

export const lastEntry = ({ level, message, data }: LastWord): string =>
  `${logLine({ at: systemClock.now(), level, message, data }, 'json')}\n`

/** To standard error. */
export function sayLast(word: LastWord): void {
  process.stderr.write(isLogJson(process.argv.slice(2)) ? lastEntry(word) : `everytick: ${word.message}\n`)
}
