/** Merges two lists that are read page by page, each in one order, into one list in that order; what is listed is the caller's matter. */

/** A page of one list. `next`: where to read on, also when the page is short; null when there is nothing more. */
export interface Source<Item, Place> {
  readonly items: readonly Item[]
  readonly next: Place | null
  /** Where this page began; null: at the start. */
  readonly from: Place | null
}

export interface Merging<A, PlaceA, B, PlaceB> {
  readonly a: Source<A, PlaceA>
  readonly b: Source<B, PlaceB>
  readonly limit: number
  readonly instantOf: { a(item: A): number; b(item: B): number }
  readonly placeOf: { a(item: A): PlaceA; b(item: B): PlaceB }
  /** The instant up to which a page has been looked through that ends at this place. */
  readonly edgeOf: { a(place: PlaceA): number; b(place: PlaceB): number }
}

/** Where to read on in each list: null at its start, `end` when nothing more is there. */
export interface MergedNext<PlaceA, PlaceB> {
  readonly a: PlaceA | null | 'end'
  readonly b: PlaceB | null | 'end'
}

export interface Merged<A, B, PlaceA, PlaceB> {
  readonly items: readonly ({ readonly a: A } | { readonly b: B })[]
  /** Null when there is nothing more in either. */
  readonly next: MergedNext<PlaceA, PlaceB> | null
}

/** Newest first; of one instant, those of `a` first. What lies beyond the edge of a short page waits for the next. */
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
