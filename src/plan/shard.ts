/** Which share of the schedules one of several planners plans. Who has which share is decided by `engine/planner-shards.ts`. */

/** Every schedule belongs to exactly one index from 0 to `count` - 1. */
export interface Shard {
  readonly index: number
  readonly count: number
}

/** At most so many planners share the schedules; the stores take the share from one byte of the id. */
export const MAX_SHARDS = 16

export const isSameShard = (a: Shard | null, b: Shard | null): boolean =>
  a === b || (a !== null && b !== null && a.index === b.index && a.count === b.count)
