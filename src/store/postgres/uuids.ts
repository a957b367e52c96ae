/** Lists of ids as the server reads them quickest; where they travel as text instead is said by the verbs. */
import { isId } from './rows.ts'

const UUID_TYPE = 2950
const UUID_BYTES = 16
const UUID_CHARS = 36
/** Where in the text of an id the two digits of each byte begin. */
const DIGITS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const NO_DIGIT = 0xff
const DIGIT = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
  return digit === -1 ? NO_DIGIT : digit
})

/**
 * A list of ids as the bytes of an array (`$1::uuid[]` on the other side), for statements that are asked on
 * connections of our own only: reading the text of an id costs the server a tenth of what inserting a run does.
 */
export function uuids(ids: readonly string[]): Buffer {
  const text = Buffer.from(ids.join(''))
  const head = ids.length === 0 ? [0, 0, UUID_TYPE] : [1, 0, UUID_TYPE, ids.length, 1]
  const list = Buffer.allocUnsafe(4 * head.length + ids.length * (4 + UUID_BYTES))
  let at = 0
  for (const number of head) at = list.writeInt32BE(number, at)
  let wrong = text.length !== ids.length * UUID_CHARS
  for (let from = 0; from < text.length && !wrong; from += UUID_CHARS) {
    at = list.writeInt32BE(UUID_BYTES, at)
    for (let i = 0; i < UUID_BYTES; i++) {
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
