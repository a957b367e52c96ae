/** The shape of a logger; console, pino and winston fit as they are. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type Logger = Readonly<Record<LogLevel, (message: string, data?: unknown) => void>>
