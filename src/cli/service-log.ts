/** The log of `serve` and `worker`: one line per entry, according to `--log-format` and `--log-level`. */
import { isLogged, type LogFormat, logLine } from '../observe/log-text.ts'
import type { Logger, LogLevel } from '../observe/logger.ts'
import { readChoice } from '../options.ts'
import { escapingLogger } from '../scheduler/loggers.ts'
import { systemClock } from '../time/clock.ts'

export interface LogOptions {
  readonly logFormat?: string
  readonly logLevel?: string
}

export interface ServiceLog {
  readonly format: LogFormat
  readonly logger: Logger
  /** For the app: overrides the logger of the configuration when an option is given, otherwise the default. */
  readonly options: {
    readonly overrides: { readonly logger?: Logger }
    readonly defaults: { readonly logger?: Logger }
  }
}

const FORMATS = ['text', 'json'] as const
const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export function readLog({ logFormat, logLevel }: LogOptions): ServiceLog {
  const format = readChoice(logFormat ?? 'text', '--log-format', FORMATS)
  const least = readChoice(logLevel ?? 'info', '--log-level', LEVELS)
  const isGiven = logFormat !== undefined || logLevel !== undefined
  const logger = streamLogger(format, least)
  const options = isGiven ? { overrides: { logger }, defaults: {} } : { overrides: {}, defaults: { logger } }
  return { format, logger, options }
}

/** Warnings and errors to standard error, as on the console. */
const streamLogger = (format: LogFormat, least: LogLevel): Logger =>
  escapingLogger((level, message, data) => {
    if (!isLogged(level, least)) return
    const stream = isLogged(level, 'warn') ? process.stderr : process.stdout
    stream.write(`${logLine({ at: systemClock.now(), level, message, data }, format)}\n`)
  })

export interface Announcement {
  /** Text for a terminal, several lines. */
  readonly text: string
  readonly message: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** With a JSON log, announcements of the process are log entries too. */
export function announce({ format, logger }: ServiceLog, write: (text: string) => void, said: Announcement): void {
  if (format === 'json') logger.info(said.message, said.data)
  else write(said.text)
}
