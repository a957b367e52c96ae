/** Keeps the most recently used values by key within a bound; what a key stands for is the caller's matter. */

/**
 * Two generations instead of an ordered list: a full young generation becomes the old one, and what is asked for again
 * moves back. Deleting the oldest key of one Map, one by one, costs more than parsing does.
 */
export interface Interning<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
}

export function interning<Value>(generation: number): Interning<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()
  const set = (key: string, value: Value): void => {
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const aged = old.get(key)
      if (aged !== undefined) set(key, aged)
      return aged
    },
    set,
  }
}
