/** Sums what ended in the whole fleet since midnight UTC, from the sums of stretches that are over: every server reads the same, and a server that starts goes on where the others are. */
import { type Counted, merged } from '../../observe/histogram.ts'
import { DAY_MS } from '../../schedule/calendar.ts'
import { STATS_BUCKET_MS, type StatsStore } from '../../store/contract/stats.ts'

/** So long after its end a stretch has been summed up by some server, and reading it costs little. */
const SETTLING_MS = 60_000

export type DayTotals = Pick<
  Counted,
  'succeeded' | 'failed' | 'cancelled' | 'skipped' | 'missed' | 'attempts' | 'doubled'
>

export interface DayTotalsReader {
  /** Reads the store once per stretch. */
  poll(read: StatsStore['read'], now: number): Promise<DayTotals>
}

export function createDayTotals(): DayTotalsReader {
  let last: { readonly dayAt: number; readonly closedAt: number; readonly totals: DayTotals } | null = null
  return {
    async poll(read, now) {
      const closedAt = Math.floor((now - SETTLING_MS) / STATS_BUCKET_MS) * STATS_BUCKET_MS
      if (last?.closedAt === closedAt) return last.totals
      // The last stretch of a day belongs to it: what begins at midnight is the next.
      const dayAt = Math.floor((closedAt - 1) / DAY_MS) * DAY_MS
      const stretches = await read('all', { fromAt: dayAt, toAt: closedAt })
      const sum = merged(stretches.filter(({ at }) => at >= dayAt && at < closedAt))
      const totals = totalsOf(sum, last?.dayAt === dayAt ? last.totals : null)
      last = { dayAt, closedAt, totals }
      return totals
    },
  }
}

/** A counter that falls is one that began at 0 again, for whoever reads it: within a day it never does. */
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
