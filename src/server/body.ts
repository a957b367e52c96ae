/** Reads a request body within limits of size, media type and depth. The schema of the operation validates the content. */
import { yieldToEventLoop } from '../time/in-steps.ts'
import { Refusal } from './problem.ts'

export interface BodyLimits {
  readonly maxBytes: number
}

const LARGE_BYTES = 65_536
const MAX_DEPTH = 32
const MAX_VALUES = 50_000
const MAX_FIELDS = 20_000
/** Copying such a field by assignment would pollute `Object.prototype`. */
const POLLUTING = '__proto__'

/** Undefined without a body. */
export async function readBody(request: Request, { maxBytes }: BodyLimits): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes)
  if (bytes.length === 0) return undefined
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/(?:json|merge-patch\+json)\s*(?:;|$)/i.test(type))
    throw new Refusal(
      'MEDIA_TYPE',
      type === '' ? 'the content-type header is missing' : `content-type "${type.slice(0, 60)}" is not supported`,
      {
        hint: 'send content-type: application/json',
      },
    )
  refuseMuch(bytes)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('BODY_INVALID', 'the body is not JSON in UTF-8')
  }
  // Parsing a large body takes long enough, so the next steps yield to the event loop first.
  if (bytes.length > LARGE_BYTES) await yieldToEventLoop()
  refusePolluting(value)
  if (bytes.length > LARGE_BYTES) await yieldToEventLoop()
  return value
}

/** Throws as soon as the body is too large, so that no more of it is buffered. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): Refusal =>
    new Refusal('BODY_TOO_LARGE', `the body is larger than ${maxBytes} bytes`, { hint: 'send it in several requests' })
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  // Counts while reading, because content-length may be wrong or missing.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
const SPACE = 0x20

/**
 * Counts fields, values and levels before parsing, because parsing and walking hundreds of thousands of values blocks the event loop for
 * too long. For text that is not JSON the counts are meaningless; the parser rejects it.
 */
function refuseMuch(bytes: Uint8Array): void {
  let [fields, values, depth, deepest] = [0, 1, 0, 0]
  let isText = false
  let before = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (isText) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) isText = false
      continue
    }
    if (byte === QUOTE) isText = true
    else if (byte === COLON) fields++
    else if (byte === COMMA) values++
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++
      deepest = Math.max(deepest, ++depth)
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--
      // An empty array or object has no first value.
      if (before === OPEN_LIST || before === OPEN_OBJECT) values--
    }
    if (byte > SPACE) before = byte
  }
  if (fields > MAX_FIELDS)
    throw new Refusal('BODY_INVALID', 'the body has too many fields', {
      hint: `at most ${MAX_FIELDS} fields in all objects together`,
    })
  if (deepest > MAX_DEPTH || values > MAX_VALUES)
    throw new Refusal('BODY_INVALID', 'the body is nested too deeply or has too many values', {
      hint: `at most ${MAX_DEPTH} levels and ${MAX_VALUES} values`,
    })
}

function refusePolluting(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const each of value) refusePolluting(each)
    return
  }
  for (const key in value) {
    if (key === POLLUTING) throw new Refusal('BODY_INVALID', `the body has a field named "${key}"`)
    refusePolluting((value as Record<string, unknown>)[key])
  }
}
