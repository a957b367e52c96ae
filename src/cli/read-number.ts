/** Parses numbers and durations in options. */
import { readDuration } from '../options.ts'
import { UsageError } from './usage-error.ts'

export function readPort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port takes 0 to 65535, not ${text}`)
}

/** Undefined: no limit. */
export function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() !== '' && seconds > 0 && seconds <= 1_000_000) return seconds
  throw new UsageError(`--seconds takes a positive number, not ${text}`)
}

/** How long to wait for running runs on a stop signal. */
export const readDrain = (text: string): number => readDuration(text, '--drain')

/** As `concurrency` in code, which checks the upper limit. */
export function readConcurrency(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`--concurrency takes a whole number of at least 1, not ${text}`, { code: 'OPTION_INVALID' })
}
