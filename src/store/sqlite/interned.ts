/** Values that many rows repeat word for word, read once and shared; which values those are is said by who reads them. */

/** More than the policies of one application, and soon filled again. */
const MAX_TEXTS = 1000
const known = new Map<string, unknown>()

/** Frozen, because others hold the same one. */
export function interned<T>(text: string): T {
  let value = known.get(text)
  if (value === undefined) {
    if (known.size >= MAX_TEXTS) known.clear()
    known.set(text, (value = frozen(JSON.parse(text))))
  }
  return value as T
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
