/** Formats a log entry as one line, as text or JSON. Pure. Data is never a format string, and cannot break the line. */

import { jsonText, printable } from '../printable.ts'
import type { LogLevel } from './logger.ts'

export interface LogEntry {
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly data?: unknown
}

export type LogFormat = 'text' | 'json'

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }
/** Values that need no quotes. */
const PLAIN = /^[\w./:@+-]+$/
/** The maximum depth of `error.cause`. */
const MAX_CAUSES = 5

/** Whether an entry of this level is written at minimum level `least`. */
export const isLogged = (level: LogLevel, least: LogLevel): boolean => RANK[level] >= RANK[least]

export const logLine = (entry: LogEntry, format: LogFormat): string =>
  format === 'json' ? jsonLine(entry) : textLine(entry)

/** `2027-01-04T09:00:00.000Z WARN  message key=value`. */
function textLine({ at, level, message, data }: LogEntry): string {
  const pairs = Object.entries(fieldsOf(data)).map(([key, value]) => ` ${printable(key)}=${valueText(value)}`)
  return `${new Date(at).toISOString()} ${level.toUpperCase().padEnd(5)} ${printable(message)}${pairs.join('')}`
}

/** `time`, `level` and `message` are reserved: fields with these names go under `data`. */
function jsonLine({ at, level, message, data }: LogEntry): string {
  const fields = fieldsOf(data)
  const own = { time: new Date(at).toISOString(), level, message }
  const clashes = Object.keys(own).some((name) => name in fields)
  return safeJson(clashes ? { ...own, data: fields } : { ...own, ...fields })
}

function fieldsOf(data: unknown): Readonly<Record<string, unknown>> {
  if (data === undefined) return {}
  if (data instanceof Error) return { error: data }
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : { data }
}

function valueText(value: unknown): string {
  const text = value instanceof Error ? (value.stack ?? String(value)) : value
  if (typeof text === 'string') return PLAIN.test(text) ? text : jsonText(text)
  return safeJson(text)
}

function safeJson(value: unknown): string {
  try {
    return jsonText(value === undefined ? null : plain(value, new Set()))
  } catch {
    return jsonText('data that cannot be written as JSON')
  }
}

/** Handles values that JSON drops or rejects: errors, big integers, cycles. */
function plain(value: unknown, above: ReadonlySet<unknown>): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (above.has(value)) return '(circular)'
  const within = new Set(above).add(value)
  if (value instanceof Error) return errorFields(value, within)
  if (Array.isArray(value)) return value.map((each) => plain(each, within))
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each, within)]))
}

function errorFields(error: Error, above: ReadonlySet<unknown>): Readonly<Record<string, unknown>> {
  const { name, message, stack, cause } = error
  const code = (error as { code?: unknown }).code
  return {
    name,
    message,
    ...(code === undefined ? {} : { code: String(code) }),
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined || above.size > MAX_CAUSES ? {} : { cause: plain(cause, above) }),
  }
}
