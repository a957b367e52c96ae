/** The logger interface; console, pino and winston implement it. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type Logger = Readonly<Record<LogLevel, (message: string, data?: unknown) => void>>
