/** Merges two paginated, sorted lists into one sorted list. */

/** A page of one list. `next`: the position to continue from, also for a short page; null at the end. */
export interface Source<Item, Place> {
  readonly items: readonly Item[]
  readonly next: Place | null
  /** The position where this page starts; null: the beginning. */
  readonly from: Place | null
}

export interface Merging<A, PlaceA, B, PlaceB> {
  readonly a: Source<A, PlaceA>
  readonly b: Source<B, PlaceB>
  readonly limit: number
  readonly instantOf: { a(item: A): number; b(item: B): number }
  readonly placeOf: { a(item: A): PlaceA; b(item: B): PlaceB }
  /** The instant up to which a page that ends at this position is complete. */
  readonly edgeOf: { a(place: PlaceA): number; b(place: PlaceB): number }
}

/** The position in each list: null at the start, `end` at the end. */
export interface MergedNext<PlaceA, PlaceB> {
  readonly a: PlaceA | null | 'end'
  readonly b: PlaceB | null | 'end'
}

export interface Merged<A, B, PlaceA, PlaceB> {
  readonly items: readonly ({ readonly a: A } | { readonly b: B })[]
  /** Null if both lists are at their end. */
  readonly next: MergedNext<PlaceA, PlaceB> | null
}

/** Newest first; at the same instant, items of `a` first. Items beyond the end of a short page wait for the next page. */
export function mergedPage<A, PlaceA, B, PlaceB>(merging: Merging<A, PlaceA, B, PlaceB>): Merged<A, B, PlaceA, PlaceB> {
  const { a, b, limit, instantOf, placeOf, edgeOf } = merging
  const items: ({ readonly a: A } | { readonly b: B })[] = []
  let [i, j] = [0, 0]
  while (items.length < limit) {
    const [left, right] = [a.items[i], b.items[j]]
    const leftAt = left !== undefined ? instantOf.a(left) : a.next === null ? -Infinity : edgeOf.a(a.next)
    const rightAt = right !== undefined ? instantOf.b(right) : b.next === null ? -Infinity : edgeOf.b(b.next)
    if (left !== undefined && leftAt >= rightAt) {
      items.push({ a: left })
      i++
    } else if (right !== undefined && rightAt > leftAt) {
      items.push({ b: right })
      j++
    } else break
  }
  const next = {
    a: placeAfter(a, i, placeOf.a),
    b: placeAfter(b, j, placeOf.b),
  }
  return { items, next: next.a === 'end' && next.b === 'end' ? null : next }
}

function placeAfter<Item, Place>(
  { items, next, from }: Source<Item, Place>,
  taken: number,
  placeOf: (item: Item) => Place,
): Place | null | 'end' {
  if (taken === items.length) return next ?? 'end'
  return taken === 0 ? from : placeOf(items[taken - 1]!)
}
