/** Lists as the bytes of an array, which the server reads quicker than their text; where they travel as text instead is said by the verbs. */
import { isId } from './rows.ts'

/*
 * On the other side stands `$1::uuid[]` and the like. For statements that are asked on connections of our own only: reading
 * the text of an id costs the server a tenth of what inserting a run does, and that of an instant as much.
 */

interface Kind {
  /** By which the server knows the type. */
  readonly type: number
  /** Of one value. */
  readonly bytes: number
}

const [UUID, INSTANT, INTEGER, PLACE, WORD] = [
  { type: 2950, bytes: 16 },
  { type: 1184, bytes: 8 },
  { type: 23, bytes: 4 },
  { type: 27, bytes: 6 },
  { type: 25, bytes: 0 },
] as const satisfies Kind[]

/** Each value is preceded by its length; what has none is nothing. */
const LENGTH_BYTES = 4
const NOTHING = -1

interface List {
  readonly bytes: Buffer
  /** Where the first value goes, its length before it. */
  readonly start: number
}

function listFor({ type, bytes }: Kind, length: number, mayMiss = false): List {
  const head = length === 0 ? [0, 0, type] : [1, mayMiss ? 1 : 0, type, length, 1]
  const list = Buffer.allocUnsafe(4 * head.length + length * (LENGTH_BYTES + bytes))
  let at = 0
  for (const number of head) at = list.writeInt32BE(number, at)
  return { bytes: list, start: at }
}

const UUID_CHARS = 36
/** Where in the text of an id the two digits of each byte begin. */
const DIGITS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const NO_DIGIT = 0xff
const DIGIT = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
  return digit === -1 ? NO_DIGIT : digit
})

export function uuids(ids: readonly string[]): Buffer {
  const text = Buffer.from(ids.join(''))
  const { bytes: list, start } = listFor(UUID, ids.length)
  let at = start
  let wrong = text.length !== ids.length * UUID_CHARS
  for (let from = 0; from < text.length && !wrong; from += UUID_CHARS) {
    at = list.writeInt32BE(UUID.bytes, at)
    for (let i = 0; i < UUID.bytes; i++) {
      const place = from + DIGITS[i]!
      const high = DIGIT[text[place]!]!
      const low = DIGIT[text[place + 1]!]!
      if ((high | low) > 0xf) wrong = true
      list[at++] = (high << 4) | low
    }
  }
  if (wrong) throw new TypeError(`among the ids of a list is one that is no UUID: ${ids.find((id) => !isId(id)) ?? ''}`)
  return list
}

/** The server counts microseconds from the year 2000. */
const ORIGIN_MS = Date.UTC(2000)
const HALF = 2 ** 32

/** Epoch milliseconds as `timestamptz[]`. In two halves, since microseconds of distant years are more than a number holds. */
export function instants(list: readonly (number | null)[]): Buffer {
  const { bytes, start } = listFor(INSTANT, list.length, true)
  let at = start
  for (const ms of list) {
    at = bytes.writeInt32BE(ms === null ? NOTHING : INSTANT.bytes, at)
    if (ms === null) continue
    const high = Math.floor((ms - ORIGIN_MS) / HALF)
    const low = (ms - ORIGIN_MS - high * HALF) * 1000
    const carried = Math.floor(low / HALF)
    at = bytes.writeInt32BE(high * 1000 + carried, at)
    at = bytes.writeUInt32BE(low - carried * HALF, at)
  }
  return bytes.subarray(0, at)
}

/** Whole numbers as `int[]`. */
export function integers(list: readonly number[]): Buffer {
  const { bytes, start } = listFor(INTEGER, list.length)
  let at = start
  for (const number of list) at = bytes.writeInt32BE(number, bytes.writeInt32BE(INTEGER.bytes, at))
  return bytes
}

/** Texts of our own that differ in length, as `text[]`. */
export function words(list: readonly string[]): Buffer {
  const { bytes: head, start } = listFor(WORD, list.length)
  const values = list.map((word) => Buffer.byteLength(word))
  const bytes = Buffer.allocUnsafe(head.length + values.reduce((sum, length) => sum + length, 0))
  head.copy(bytes)
  let at = start
  for (let i = 0; i < list.length; i++) {
    at = bytes.writeInt32BE(values[i]!, at)
    at += bytes.write(list[i]!, at)
  }
  return bytes
}

/** Texts that name the places of two rows each, as in `(12,3)(40,1)`, as two lists of type `tid[]`. */
export function places(texts: readonly (string | undefined)[]): [Buffer, Buffer] {
  const [{ bytes: first, start }, { bytes: second }] = [
    listFor(PLACE, texts.length, true),
    listFor(PLACE, texts.length, true),
  ]
  const numbers = [0, 0, 0, 0]
  let at = start
  for (const text of texts) {
    const length = text === undefined ? NOTHING : PLACE.bytes
    first.writeInt32BE(length, at)
    at = second.writeInt32BE(length, at)
    if (text === undefined) continue
    readNumbers(text, numbers)
    first.writeUInt16BE(numbers[1]!, first.writeUInt32BE(numbers[0]!, at))
    at = second.writeUInt16BE(numbers[3]!, second.writeUInt32BE(numbers[2]!, at))
  }
  return [first.subarray(0, at), second.subarray(0, at)]
}

/** All numbers of a text, in their order. */
function readNumbers(text: string, into: number[]): void {
  let [n, value, isOpen] = [0, 0, false]
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      isOpen = true
    } else if (isOpen) {
      into[n++] = value
      value = 0
      isOpen = false
    }
  }
}
