/** Sends what many rows of a batch have in common once, and with each row only which of those it is; what they have in common is said by the verbs. */
import { toJsonText } from '../../json.ts'
import { plain, rowsOf, texts, type Value } from './statement.ts'

export interface Kinds {
  /** Each distinct list of values once. */
  readonly kinds: readonly (readonly Value[])[]
  /** For each item the place of its kind in that list. */
  readonly kindOf: readonly number[]
}

/** So many kinds are looked through at a glance; more would cost as much as writing one down. */
const SKIPS = 8

/** Where `uniform` holds for two items they are of one kind, and need not be written down; where it does not, they may be all the same. */
export function kindsOf<Item>(
  items: readonly Item[],
  valuesOf: (item: Item) => readonly Value[],
  uniform?: (one: Item, other: Item) => boolean,
): Kinds {
  const kinds: (readonly Value[])[] = []
  const seen: Item[] = []
  const places = new Map<string, number>()
  let last = -1
  const kindOf = items.map((item) => {
    for (let place = 0; uniform && place < seen.length; place++) if (uniform(item, seen[place]!)) return place
    const values = valuesOf(item)
    // Neighbours are mostly alike, and comparing them is much cheaper than writing them down.
    if (last >= 0 && values.every((value, i) => value === kinds[last]![i])) return last
    const name = JSON.stringify(values)
    last = places.get(name) ?? kinds.push(values) - 1
    places.set(name, last)
    if (last < SKIPS) seen[last] = item
    return last
  })
  return { kinds, kindOf }
}

/** The place of each kind, and one list per column. */
export function kindValues(kinds: Kinds['kinds']): Value[] {
  const columns = kinds[0]!.map((_, column) => texts(kinds.map((values) => textOf(values[column]!))))
  return [plain(kinds.map((_, place) => place)), ...columns]
}

const textOf = (value: Value): string | null => (value === null ? null : String(value))

/** SQL for the kinds, each with its place in the column `kind`. */
export const kindRows = (columns: Readonly<Record<string, string>>, first: number): string =>
  rowsOf({ kind: 'int', ...columns }, first)

/**
 * SQL for parallel lists that are joined with something. The one more list in it makes the planner take them for a hundred
 * rows, as `MANY` does, but no row passes through a join for it. The list of the column `bytes` does not come as text.
 */
export function longListOf(
  as: string,
  columns: Readonly<Record<string, string>>,
  { first = 1, bytes }: { first?: number; bytes?: string | null } = {},
): string {
  const lists = Object.entries(columns).map(
    ([column, type], i) => `unnest($${first + i}${column === bytes ? '' : '::text'}::${type}[])`,
  )
  return `rows from (${lists.join(', ')}, json_array_elements('[0]')) as ${as} (${Object.keys(columns).join(', ')}, ${as}_many)`
}

/** JSON of values that come again and again as the very same object, such as a policy, written once. */
export function rememberedTexts(what: string): (value: unknown) => string {
  const known = new Map<unknown, string>()
  return (value) => {
    const text = known.get(value) ?? toJsonText(value, { what })
    known.set(value, text)
    return text
  }
}
