/** Collects, purely, the texts of a call that must not be stored should an answer repeat them; striking them out is `stored-result.ts`. */

/** Shorter texts are words as well as secrets, and hiding them would make answers unreadable. */
export const MIN_LENGTH = 4

/** Also as JSON writes them; the longest first, so that none is left in pieces. */
export function hiddenTexts(secrets: readonly string[]): readonly string[] {
  const all = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  return [...new Set(all)].filter(({ length }) => length >= MIN_LENGTH).toSorted((a, b) => b.length - a.length)
}

/** What stands in the parts of a payload that its job shows nobody; a path is such as `card.number` or `items.*.token`. */
export function valuesAt(payload: unknown, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => textsIn(path.split('.').reduce<unknown[]>(within, [payload])))
}

const within = (values: unknown[], field: string): unknown[] =>
  values.flatMap((value) => {
    if (typeof value !== 'object' || value === null) return []
    if (field === '*') return Object.values(value)
    return Object.hasOwn(value, field) ? [(value as Record<string, unknown>)[field]] : []
  })

/** Numbers too: a card may be one. */
function textsIn(values: readonly unknown[]): string[] {
  return values.flatMap((value) => {
    if (typeof value === 'string' || typeof value === 'number') return [String(value)]
    return typeof value === 'object' && value !== null ? textsIn(Object.values(value)) : []
  })
}
