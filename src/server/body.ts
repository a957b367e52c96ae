/** Reads the body of a request within bounds: size, media type, JSON, depth; what it should contain is the operation's schema. */
import { nextTurn } from '../time/in-steps.ts'
import { Refusal } from './problem.ts'

export interface BodyLimits {
  readonly maxBytes: number
}

const LARGE_BYTES = 65_536
const MAX_DEPTH = 32
const MAX_VALUES = 50_000
const MAX_FIELDS = 20_000
/** Whoever copies such a field by assignment changes what all objects are. */
const POLLUTING = '__proto__'

/** Undefined when there is none. */
export async function readBody(request: Request, { maxBytes }: BodyLimits): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes)
  if (bytes.length === 0) return undefined
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/(?:json|merge-patch\+json)\s*(?:;|$)/i.test(type))
    throw new Refusal('MEDIA_TYPE', `the body is ${type === '' ? 'of no type' : `"${type.slice(0, 60)}"`}`, {
      hint: 'send content-type: application/json',
    })
  // Before it is parsed: to parse fifty thousand names of fields holds the process for longer than any request may.
  if (fieldsIn(bytes) > MAX_FIELDS)
    throw new Refusal('BODY_INVALID', 'the body has too many fields', {
      hint: `at most ${MAX_FIELDS} in all its objects`,
    })
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new Refusal('BODY_INVALID', 'the body is not JSON in UTF-8')
  }
  // To parse a large body takes long enough: what follows has turns of its own.
  if (bytes.length > LARGE_BYTES) await nextTurn()
  checkShape(value)
  if (bytes.length > LARGE_BYTES) await nextTurn()
  return value
}

/** Refused as soon as it is too large, so that no more of it is kept. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): Refusal =>
    new Refusal('BODY_TOO_LARGE', `the body is larger than ${maxBytes} bytes`, { hint: 'send it in several requests' })
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  // Counted while it arrives: a length that was announced may be a lie, and there may be none.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a]

/** Colons outside of texts. */
function fieldsIn(bytes: Uint8Array): number {
  let fields = 0
  let isText = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) isText = !isText
    else if (isText && byte === BACKSLASH) i++
    else if (!isText && byte === COLON) fields++
  }
  return fields
}

/** Walks without recursion, since it is here to bound that. */
function checkShape(value: unknown): void {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  for (let seen = 0; open.length > 0; seen++) {
    const { value: each, depth } = open.pop()!
    if (typeof each !== 'object' || each === null) continue
    if (depth >= MAX_DEPTH || seen > MAX_VALUES)
      throw new Refusal('BODY_INVALID', 'the body is nested too deeply or has too many values', {
        hint: `at most ${MAX_DEPTH} levels and ${MAX_VALUES} values`,
      })
    for (const [key, inner] of Object.entries(each)) {
      if (key === POLLUTING) throw new Refusal('BODY_INVALID', `the body has a field named "${key}"`)
      open.push({ value: inner, depth: depth + 1 })
    }
  }
}
