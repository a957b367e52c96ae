/** Texts that many rows repeat word for word, each read once and what it says shared; which texts those are is said by who reads them. */

/** More than the policies of one application, and soon filled again. */
const MAX_TEXTS = 2000

/** Remembers what `read` made of each text; only for what nobody changes. */
export function remembered<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    let value = known.get(text)
    if (value === undefined) {
      value = read(text)
      if (known.size >= MAX_TEXTS) known.clear()
      known.set(text, value)
    }
    return value
  }
}

const json = remembered((text): unknown => frozen(JSON.parse(text)))

/** JSON, frozen, because others hold the same one. */
export const interned = <T>(text: string): T => json(text) as T

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
