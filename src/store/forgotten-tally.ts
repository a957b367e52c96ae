/** Counts what a step of forgetting removed, by kind; what is forgotten is decided by each store. */
import type { Forgotten, ForgottenCounts } from './contract/upkeep.ts'

export interface Tally {
  add(kind: Forgotten, rows: number): void
  /** In all. */
  readonly removed: number
  readonly counts: ForgottenCounts
}

export function createTally(): Tally {
  const counts: Partial<Record<Forgotten, number>> = {}
  let removed = 0
  return {
    add(kind, rows) {
      if (rows === 0) return
      counts[kind] = (counts[kind] ?? 0) + rows
      removed += rows
    },
    get removed() {
      return removed
    },
    counts,
  }
}
