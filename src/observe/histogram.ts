/** Quantiles and sums of bucket counts. Pure. */

/** The sums over what ended in one period, as the store keeps them. */
export interface Counted {
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  /** Runs that ended as skipped, and occurrences recorded as skipped. */
  readonly skipped: number
  readonly missed: number
  /** Total attempts of the ended runs. */
  readonly attempts: number
  /** Occurrences that already had a run within the day before; more than 0 is a bug. Known once the period is summed up. */
  readonly doubled: number
  /** Start delays of first attempts, where known: one count per bucket, one more than there are bounds. */
  readonly lateness: readonly number[]
  readonly durations: readonly number[]
  readonly durationSumMs: number
  /** The longest one; 0 if there are none. */
  readonly latenessMaxMs: number
  readonly durationMaxMs: number
}

const NOTHING: Counted = {
  ...{ succeeded: 0, failed: 0, cancelled: 0, skipped: 0, missed: 0, attempts: 0, doubled: 0, durationSumMs: 0 },
  ...{ lateness: [], durations: [], latenessMaxMs: 0, durationMaxMs: 0 },
}

/** The total over several periods. */
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

/** The bounds with a known maximum: the last bucket ends there, so that no quantile is above it. */
export const upTo = (bounds: readonly number[], most: number): number[] =>
  [...bounds, Number.POSITIVE_INFINITY].map((bound) => Math.min(bound, most))

/**
 * The quantile of a share (0.95) of the values. Assumes an even distribution within a bucket; values above the last bound count
 * as that bound. Null without values.
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

/** How many values are certainly above a value: those in buckets that start at or above it. */
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

/** The mean duration; null without values. */
export function meanMs({ durations, durationSumMs }: Pick<Counted, 'durations' | 'durationSumMs'>): number | null {
  const all = durations.reduce((sum, count) => sum + count, 0)
  return all === 0 ? null : durationSumMs / all
}
