/** How much of each id a table shows: as much as tells the listed ones apart, since that is enough to name one. */

/** So short only ids of about the same minute can be mistaken for each other. */
const LEAST = 8
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface ShortIdOptions {
  /** Whether other things may lie between those that are listed: more is shown then. */
  readonly filtered?: boolean
}

/** With its time and what follows it, an id is rarely that of another thing that is not listed. */
const LEAST_FILTERED = 18

/** All of one list are cut at the same place; ids that are no UUIDs stay whole. */
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
