/** Keeps a value per name for a bounded number of names: names come from users, and each becomes a metrics series. */

/** The name that all further names share. */
export const OTHER = 'other'
export const MOST_NAMES = 200

export interface PerName<T> {
  of(name: string): T
  entries(): Iterable<[name: string, T]>
}

export function perName<T>(make: () => T, most = MOST_NAMES): PerName<T> {
  const known = new Map<string, T>()
  const add = (name: string): T => {
    const made = make()
    known.set(name, made)
    return made
  }
  return {
    of: (name) => known.get(name) ?? (known.size < most ? add(name) : (known.get(OTHER) ?? add(OTHER))),
    entries: () => known.entries(),
  }
}

/** The first names in order, and one entry that joins the values of all others. */
export function capped(
  values: readonly (readonly [name: string, value: number])[],
  join: (a: number, b: number) => number,
): (readonly [name: string, value: number])[] {
  if (values.length <= MOST_NAMES) return [...values]
  const sorted = values.toSorted(([a], [b]) => (a < b ? -1 : 1))
  const rest = sorted.slice(MOST_NAMES).map(([, value]) => value)
  return [...sorted.slice(0, MOST_NAMES), [OTHER, rest.reduce(join)]]
}
