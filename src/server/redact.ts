/** Takes out of payloads what their jobs call secret, and whole payloads from those who may only read; which those are is decided elsewhere. */
import type { Json } from '../json.ts'

export const REDACTED = '[redacted]'

/** A path names fields from the outside in, such as `card.number` or `items.*.token`; `*` is every field or entry. */
export function redacted(value: Json, paths: readonly string[]): Json {
  return paths.reduce<Json>((whole, path) => without(whole, path.split('.')), value)
}

function without(value: Json, [field, ...rest]: readonly string[]): Json {
  if (field === undefined) return REDACTED
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((each, i) => (field === '*' || field === String(i) ? without(each, rest) : each))
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, field === '*' || field === key ? without(each, rest) : each]),
  )
}
