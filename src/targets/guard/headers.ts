/** Decides, purely, which headers somebody may add to a call, so that nothing can be slipped into it; what we add ourselves is not asked here. */
import { shown } from '../../errors.ts'
import { refusal } from './rules.ts'

export type Header = readonly [name: string, value: string]

const MAX_HEADERS = 64
const MAX_BYTES = 16 * 1024
/** A colon and a blank, and the end of the line. */
const BYTES_BETWEEN = 4

/** Who is called, where a message ends, and what the connection does: undici says these. */
const FRAMING = new Set(
  'host content-length transfer-encoding connection keep-alive te trailer upgrade expect http2-settings'.split(' '),
)
/** Those of proxies, and those with which we say who we are. */
const KEPT = ['proxy-', 'webhook-', 'everytick-']

/** The token of RFC 9110. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What can be seen, and blanks: beyond that, bytes are cut off on the way, and an unlucky letter becomes a line feed. */
const VALUE = /^[\x20-\x7e]*$/

/** The headers with their names in small letters; throws TARGET_REFUSED, with the name in it and never the value. */
export function checkHeaders(headers: Readonly<Record<string, string>>): readonly Header[] {
  const given = Object.entries(headers)
  if (given.length > MAX_HEADERS) throw refusal(`there are ${given.length} headers`, `use at most ${MAX_HEADERS}`)
  const seen = new Set<string>()
  let bytes = 0
  const checked = given.map(([name, value]): Header => {
    if (!NAME.test(name)) throw refusal(`${shown(name)} is not the name of a header`)
    const small = name.toLowerCase()
    if (FRAMING.has(small) || KEPT.some((start) => small.startsWith(start))) {
      throw refusal(`the header ${shown(small)} is not for you to set`)
    }
    if (seen.has(small)) throw refusal(`the header ${shown(small)} is given twice`)
    seen.add(small)
    if (typeof value !== 'string') throw refusal(`the header ${shown(small)} is text, not ${kindOf(value)}`)
    if (!VALUE.test(value)) {
      throw refusal(`the header ${shown(small)} has a character in it that cannot be sent`, 'use ASCII, on one line')
    }
    bytes += small.length + value.length + BYTES_BETWEEN
    return [small, value]
  })
  if (bytes > MAX_BYTES) throw refusal(`the headers have ${bytes} bytes together`, `use at most ${MAX_BYTES}`)
  return checked
}

const kindOf = (value: unknown): string => (value === null ? 'null' : `a value of type ${typeof value}`)
