/** Redacts payloads by the paths that a job declares secret. */
import type { Json } from '../json.ts'

export const REDACTED = '[redacted]'

/**
 * A path names fields from the outside in, such as `card.number` or `items.*.token`; `*` is every field or entry. If the payload
 * has another shape than the path expects, redaction removes more rather than less: a path applies to each entry of an unexpected
 * list of objects, and any other value without such fields is removed completely.
 */
export function redacted(value: Json, paths: readonly string[]): Json {
  return paths.reduce<Json>((whole, path) => without(whole, path.split('.')), value)
}

function without(value: Json, path: readonly string[]): Json {
  const [field, ...rest] = path
  if (field === undefined) return REDACTED
  if (typeof value !== 'object' || value === null) return value && REDACTED
  if (Array.isArray(value)) {
    if (field === '*') return value.map((each) => without(each, rest))
    if (/^\d+$/.test(field)) return value.map((each, i) => (field === String(i) ? without(each, rest) : each))
    return value.every(isObject) ? value.map((each) => without(each, path)) : REDACTED
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, field === '*' ? without(each, rest) : below(each, key, path)]),
  )
}

/** A field name may itself contain dots. */
function below(value: Json, key: string, path: readonly string[]): Json {
  const many = key.split('.').length
  return path.slice(0, many).join('.') === key ? without(value, path.slice(many)) : value
}

const isObject = (value: Json): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
