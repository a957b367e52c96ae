/** Reads the numbers that commands take as options. */
import { UsageError } from './usage-error.ts'

export function readPort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port takes 0 to 65535, not ${text}`)
}

/** Undefined: without end. */
export function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() !== '' && seconds > 0 && seconds <= 1_000_000) return seconds
  throw new UsageError(`--seconds takes a positive number, not ${text}`)
}
