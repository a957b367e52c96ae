/** A queue of future events, sorted by instant. */

export interface Agenda<Entry> {
  add(at: number, entry: Entry): void
  /** Removes and returns everything due up to `now`, in order; insertion order at the same instant. */
  take(now: number): Entry[]
  /** The earliest instant; null if the queue is empty. */
  nextAt(): number | null
  clear(): void
}

export function createAgenda<Entry>(): Agenda<Entry> {
  // Latest first, so that due items are cut off at the end.
  let entries: { readonly at: number; readonly entry: Entry }[] = []

  return {
    add(at, entry) {
      let [low, high] = [0, entries.length]
      while (low < high) {
        const middle = (low + high) >>> 1
        if (entries[middle]!.at > at) low = middle + 1
        else high = middle
      }
      entries.splice(low, 0, { at, entry })
    },
    take(now) {
      let first = entries.length
      while (first > 0 && entries[first - 1]!.at <= now) first--
      return entries
        .splice(first)
        .reverse()
        .map(({ entry }) => entry)
    },
    nextAt: () => entries.at(-1)?.at ?? null,
    clear() {
      entries = []
    },
  }
}
