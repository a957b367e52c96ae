/** Counts values in buckets by upper bound, cheaply enough for every run. */

export interface ClassCounts {
  add(value: number): void
  /** One count more than there are bounds. */
  readonly counts: readonly number[]
  readonly sum: number
}

export function createClassCounts(bounds: readonly number[]): ClassCounts {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  let sum = 0
  return {
    add(value) {
      let at = 0
      while (at < bounds.length && value > bounds[at]!) at++
      counts[at]!++
      sum += value
    },
    counts,
    get sum() {
      return sum
    },
  }
}
