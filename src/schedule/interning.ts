/** Keeps the most recently used values by key within a bound; what a key stands for is the caller's matter. */

export interface Interning<Value> {
  get(key: string): Value | undefined
  /** Kept from the second time on: what is asked for once would only make the collector's work harder. */
  offer(key: string, value: Value): void
}

/**
 * Two generations instead of an ordered list: a full young generation becomes the old one, and what is asked for again
 * moves back. Deleting the oldest key of one Map, one by one, costs more than parsing does.
 */
export function interning<Value>(generation: number): Interning<Value> {
  let young = new Map<string, Value | null>()
  let old = new Map<string, Value | null>()

  const put = (key: string, value: Value | null): void => {
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value) return value
      const aged = old.get(key)
      if (!aged) return undefined
      put(key, aged)
      return aged
    },
    offer: (key, value) => put(key, young.has(key) || old.has(key) ? value : null),
  }
}
