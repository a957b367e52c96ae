/** Wraps the loggers of the app so that logged data cannot break a line, control a terminal or act as a format string. */
import { Console } from 'node:console'
import { messageText } from '../engine/log-line.ts'
import { logLine } from '../observe/log-text.ts'
import type { Logger, LogLevel } from '../observe/logger.ts'
import { logMessage } from '../printable.ts'
import { systemClock } from '../time/clock.ts'

/** Loggers that escape their own output. */
const ESCAPING = new WeakSet<Logger>()

type Log = (level: LogLevel, message: string, data: unknown) => void

const loggerOf = (log: Log): Logger => {
  const at =
    (level: LogLevel) =>
    (message: string, data?: unknown): void =>
      log(level, messageText(message), data)
  return Object.freeze({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') })
}

/** A logger that writes each entry as one escaped text, such as a line. */
export function escapingLogger(log: Log): Logger {
  const logger = loggerOf(log)
  ESCAPING.add(logger)
  return logger
}

/** A console reads its first argument as a format and prints errors unescaped, so it gets one escaped line and nothing else. */
const lineOn = (target: Logger): Logger =>
  escapingLogger((level, message, data) =>
    target[level](logLine({ at: systemClock.now(), level, message, data }, 'text')),
  )

/** Everything but `debug`, on the console, one line each. */
export const consoleLogger: Logger = escapingLogger((level, message, data) => {
  if (level !== 'debug') console[level](logLine({ at: systemClock.now(), level, message, data }, 'text'))
})

/** Wraps the user's logger: escapes messages; the logger itself formats data. */
export function safeLogger(logger: Logger): Logger {
  if (ESCAPING.has(logger)) return logger
  if (logger instanceof Console) return lineOn(logger)
  return loggerOf((level, message, data) =>
    data === undefined ? logger[level](logMessage(message)) : logger[level](logMessage(message), data),
  )
}
