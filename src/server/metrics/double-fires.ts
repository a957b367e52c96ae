/** Counts occurrences with more than one run since this server began, from the sums of stretches that are over; there should be none. */
import { STATS_BUCKET_MS, type StatsStore } from '../../store/contract/stats.ts'

/** So long after its end a stretch has been summed up, and reading it costs little. */
const REST_MS = STATS_BUCKET_MS

export interface DoubleFires {
  look(read: StatsStore['read'], now: number): Promise<number>
}

export function createDoubleFires(): DoubleFires {
  let count = 0
  let countedAt: number | null = null
  return {
    async look(read, now) {
      const closedAt = Math.floor((now - REST_MS) / STATS_BUCKET_MS) * STATS_BUCKET_MS
      countedAt ??= closedAt
      if (closedAt <= countedAt) return count
      const [fromAt, toAt] = [countedAt, closedAt]
      const stretches = await read('all', { fromAt, toAt: toAt - 1 })
      // Two may ask at once: only who finds it uncounted counts it.
      if (countedAt !== fromAt) return count
      for (const { at, doubled } of stretches) if (at >= fromAt && at < toAt) count += doubled
      countedAt = toAt
      return count
    },
  }
}
