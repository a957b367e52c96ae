/** Reads shares and sums out of numbers counted in classes, purely; which classes there are, and what is counted, is handed in. */

/** What ended in one stretch, as far as it adds up; the shape of a store's sums. */
export interface Counted {
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  /** Runs that ended as skipped, and occurrences on record as skipped. */
  readonly skipped: number
  readonly missed: number
  /** Attempts in all, of the runs that ended. */
  readonly attempts: number
  /** Occurrences that had a run within a day before; a number other than 0 is a fault of ours. Known once it is summed up. */
  readonly doubled: number
  /** startedAt - dueAt of the first attempt's due instant, where known: one number per class, one more than there are bounds. */
  readonly lateness: readonly number[]
  readonly durations: readonly number[]
  readonly durationSumMs: number
  /** The longest of them; 0 when there are none. */
  readonly latenessMaxMs: number
  readonly durationMaxMs: number
}

const NOTHING: Counted = {
  ...{ succeeded: 0, failed: 0, cancelled: 0, skipped: 0, missed: 0, attempts: 0, doubled: 0, durationSumMs: 0 },
  ...{ lateness: [], durations: [], latenessMaxMs: 0, durationMaxMs: 0 },
}

/** All of them as one. */
export function merged(all: readonly Counted[]): Counted {
  return all.reduce(
    (sum, each): Counted => ({
      succeeded: sum.succeeded + each.succeeded,
      failed: sum.failed + each.failed,
      cancelled: sum.cancelled + each.cancelled,
      skipped: sum.skipped + each.skipped,
      missed: sum.missed + each.missed,
      attempts: sum.attempts + each.attempts,
      doubled: sum.doubled + each.doubled,
      lateness: added(sum.lateness, each.lateness),
      durations: added(sum.durations, each.durations),
      durationSumMs: sum.durationSumMs + each.durationSumMs,
      latenessMaxMs: Math.max(sum.latenessMaxMs, each.latenessMaxMs),
      durationMaxMs: Math.max(sum.durationMaxMs, each.durationMaxMs),
    }),
    NOTHING,
  )
}

const added = (one: readonly number[], other: readonly number[]): number[] =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, i) => (one[i] ?? 0) + (other[i] ?? 0))

/** The bounds when nothing counted is above a value: the last class then ends there, and no quantile lies above it. */
export const upTo = (bounds: readonly number[], most: number): number[] =>
  [...bounds, Number.POSITIVE_INFINITY].map((bound) => Math.min(bound, most))

/**
 * The value that a share (0.95) of what was counted does not exceed. Within a class what was counted is taken to lie evenly; what is
 * above the last bound is told as that bound. Null when nothing was counted.
 */
export function quantile(bounds: readonly number[], counts: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  const rank = share * all
  let before = 0
  for (const [place, bound] of bounds.entries()) {
    const count = counts[place] ?? 0
    const low = bounds[place - 1] ?? 0
    if (count > 0 && before + count >= rank) return low + (bound - low) * Math.max(0, (rank - before) / count)
    before += count
  }
  return bounds.at(-1) ?? null
}

/** How many of what was counted are above a value for certain: those of the classes that begin at it or above. */
export function countAbove(bounds: readonly number[], counts: readonly number[], value: number): number {
  return counts.reduce((sum, count, place) => ((bounds[place - 1] ?? 0) >= value ? sum + count : sum), 0)
}

export interface Quantiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export const quantiles = (bounds: readonly number[], counts: readonly number[]): Quantiles => ({
  p50: quantile(bounds, counts, 0.5),
  p95: quantile(bounds, counts, 0.95),
  p99: quantile(bounds, counts, 0.99),
})

/** How long one took on average; null when none did. */
export function meanMs({ durations, durationSumMs }: Pick<Counted, 'durations' | 'durationSumMs'>): number | null {
  const all = durations.reduce((sum, count) => sum + count, 0)
  return all === 0 ? null : durationSumMs / all
}
