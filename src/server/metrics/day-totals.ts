/** Totals of the fleet since midnight UTC, from the sums of completed periods, so that every server exports the same values, even after a restart. */
import { type Counted, merged } from '../../observe/histogram.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import { STATS_BUCKET_MS, type StatsStore } from '../../store/contract/stats.ts'

/** By this time after its end, some server has summed up a period, so reading it is cheap. */
const SETTLING_MS = 60_000

export type DayTotals = Pick<
  Counted,
  'succeeded' | 'failed' | 'cancelled' | 'skipped' | 'missed' | 'attempts' | 'doubled'
>

export interface DayTotalsReader {
  /** Reads the store once per period. */
  poll(read: StatsStore['read'], now: number): Promise<DayTotals>
}

export function createDayTotals(): DayTotalsReader {
  let last: { readonly dayAt: number; readonly closedAt: number; readonly totals: DayTotals } | null = null
  return {
    async poll(read, now) {
      const closedAt = Math.floor((now - SETTLING_MS) / STATS_BUCKET_MS) * STATS_BUCKET_MS
      if (last?.closedAt === closedAt) return last.totals
      // The period that ends at midnight belongs to the day before.
      const dayAt = Math.floor((closedAt - 1) / DAY_MS) * DAY_MS
      const stretches = await read('all', { fromAt: dayAt, toAt: closedAt })
      const sum = merged(stretches.filter(({ at }) => at >= dayAt && at < closedAt))
      const totals = totalsOf(sum, last?.dayAt === dayAt ? last.totals : null)
      last = { dayAt, closedAt, totals }
      return totals
    },
  }
}

/** Prometheus treats a falling counter as a reset, so the totals never fall within a day. */
function totalsOf(sum: DayTotals, before: DayTotals | null): DayTotals {
  const most = (key: keyof DayTotals): number => Math.max(sum[key], before?.[key] ?? 0)
  return {
    succeeded: most('succeeded'),
    failed: most('failed'),
    cancelled: most('cancelled'),
    skipped: most('skipped'),
    missed: most('missed'),
    attempts: most('attempts'),
    doubled: most('doubled'),
  }
}
