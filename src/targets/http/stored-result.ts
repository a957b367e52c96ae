/** Decides, purely, what is kept of an answer: its status, some headers, the start of its body, and nothing that we sent as a secret. */
import { type Heard, MAX_BODY_BYTES } from './call.ts'
import { hiddenTexts, MIN_LENGTH } from './hidden.ts'

/** What is stored as the result of a run, or with the error of an attempt. */
export interface HttpResult {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Up to 8 KiB; null when there was none, or when it is not text. */
  readonly body: string | null
  /** Whether there was more of it, or may have been. */
  readonly truncated: boolean
}

export const STORED_HEADERS = ['content-type', 'content-length', 'date', 'location', 'retry-after', 'x-request-id']
const MAX_HEADER_LENGTH = 512
/** As JSON; with headers it stays below what is stored with an error. */
const MAX_JSON_LENGTH = 10 * 1024
const MAX_HEADERS_LENGTH = 4 * 1024
const REDACTED = '[redacted]'

export interface Keeping {
  readonly headers: readonly string[]
  /** Values that must not be stored, should the answer repeat them. */
  readonly secrets: readonly string[]
}

export function toStoredResult(
  { status, headers, body, truncated }: Heard,
  { headers: names, secrets }: Keeping,
): HttpResult {
  const hidden = hiddenTexts(secrets)
  const clean = (text: string): string => hidden.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text)
  const text = textOf(body, headers['content-encoding'])
  const whole = text === null ? null : withoutStart(clean(text), truncated ? hidden : [])
  const shown = whole === null ? null : fitted(whole)
  return {
    status,
    headers: keptHeaders(headers, names, clean),
    body: shown,
    truncated: truncated || (shown?.length ?? 0) < (whole?.length ?? 0),
  }
}

function keptHeaders(
  headers: Heard['headers'],
  names: readonly string[],
  clean: (text: string) => string,
): Record<string, string> {
  const stored: Record<string, string> = {}
  let length = 0
  for (const name of names) {
    const value = headers[name]
    if (value === undefined) continue
    const text = clean(printable(value)).slice(0, MAX_HEADER_LENGTH)
    length += name.length + JSON.stringify(text).length
    if (length <= MAX_HEADERS_LENGTH) stored[name] = text
  }
  return stored
}

/** Where an answer is cut off, its end may be the beginning of a secret. */
function withoutStart(text: string, hidden: readonly string[]): string {
  const lengths = hidden.flatMap((secret) =>
    Array.from(secret, (_, i) => i).filter((length) => length >= MIN_LENGTH && text.endsWith(secret.slice(0, length))),
  )
  const longest = Math.max(0, ...lengths)
  return longest === 0 ? text : `${text.slice(0, -longest)}${REDACTED}`
}

/** Headers are read byte by byte: what lies beyond ASCII has no sure meaning. */
const printable = (value: string): string => value.replaceAll(/[^\x20-\x7e]/g, '?')

/** Null when it is packed, or not text: what nobody can read is not worth keeping. */
function textOf(body: Buffer, encoding: string | undefined): string | null {
  if (body.length === 0 || (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')) return null
  try {
    // As a stream, so that a letter cut in half at the end is left out.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body.subarray(0, MAX_BODY_BYTES), { stream: true })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    return /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text
  } catch {
    return null
  }
}

/** What JSON writes longer, such as quotes, counts as long as it is written. */
function fitted(text: string): string {
  let stored = text
  while (JSON.stringify(stored).length > MAX_JSON_LENGTH) stored = stored.slice(0, Math.floor(stored.length * 0.8))
  // Not half of a letter either.
  return stored.replace(/[\ud800-\udbff]$/, '')
}
