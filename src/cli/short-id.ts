/** How much of each id a table shows: the shortest prefix that distinguishes the listed ids. */

/** At this length, only ids of about the same minute can be equal. */
const LEAST = 8
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface ShortIdOptions {
  /** Whether the list is filtered, so that unlisted ids may lie between: then show more. */
  readonly filtered?: boolean
}

/** At this length, which includes the time and more, an unlisted id is rarely equal. */
const LEAST_FILTERED = 18

/** Cuts all ids of a list at the same length; ids that are not UUIDs stay whole. */
export function shortIds(ids: readonly string[], { filtered = false }: ShortIdOptions = {}): (id: string) => string {
  const sorted = ids.filter((id) => UUID.test(id)).toSorted()
  const needed = sorted.map((id, i) => (i === 0 ? 0 : sharedLength(id, sorted[i - 1]!) + 1))
  const length = Math.max(filtered ? LEAST_FILTERED : LEAST, ...needed)
  return (id) => (UUID.test(id) ? id.slice(0, length).replace(/-$/, '') : id)
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
