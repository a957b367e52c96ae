/** Turns what a handler logged into a line that can be stored, bounded and without trusting any of it; how many lines there may be is `run-log.ts`. */
import { type Json, toJsonText } from '../json.ts'
import { runError } from './run-error.ts'

const MAX_MESSAGE_BYTES = 8 * 1024
const MAX_DATA_BYTES = 16 * 1024

export interface StorableLine {
  readonly message: string
  readonly data: Json
  /** What it counts for. */
  readonly bytes: number
}

/** Read at once, since the handler may go on to change what it handed over. */
export function storableLine(message: unknown, data: unknown): StorableLine {
  const words = cut(messageText(message))
  const text = data === undefined ? 'null' : dataText(data)
  const bytes = Buffer.byteLength(words) + (text === 'null' ? 0 : Buffer.byteLength(text))
  return { message: words, data: text === 'null' ? null : (JSON.parse(text) as Json), bytes }
}

/** Handlers in JavaScript may log anything. */
export function messageText(message: unknown): string {
  try {
    return String(message)
  } catch {
    return 'a message that cannot be converted to text'
  }
}

/** Only as many bytes as fit, and no half of a character. */
function cut(text: string): string {
  if (text.length * 3 <= MAX_MESSAGE_BYTES) return text
  const bytes = Buffer.from(text.slice(0, MAX_MESSAGE_BYTES + 1))
  if (bytes.length <= MAX_MESSAGE_BYTES) return text
  return `${new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, MAX_MESSAGE_BYTES - 3), { stream: true })}…`
}

function dataText(data: unknown): string {
  try {
    return toJsonText(withErrors(data), { what: 'the data of this line', maxBytes: MAX_DATA_BYTES })
  } catch (error) {
    return JSON.stringify({ notStored: runError(error).message })
  }
}

/** An error has nothing that JSON would show, and is what people most like to log: by itself, or as a part. */
function withErrors(data: unknown): unknown {
  if (data instanceof Error) return runError(data)
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data
  const parts = Object.entries(data)
  if (!parts.some(([, part]) => part instanceof Error)) return data
  return Object.fromEntries(parts.map(([key, part]) => [key, part instanceof Error ? runError(part) : part]))
}
