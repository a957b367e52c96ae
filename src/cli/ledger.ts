/** Sums up the recent past of one schedule for the sample: how many occurrences, and that each is accounted for once; the audit itself is the scheduler's. */
import type { Schedule } from '../schedule/schedule.ts'
import { auditSchedule } from '../scheduler/audit-schedule.ts'
import type { Store } from '../store/contract/store.ts'

export interface Ledger {
  readonly key: string
  /** Occurrences looked at, up to the watermark. */
  readonly slots: number
  readonly runs: number
  /** Occurrences on record as missed or skipped. */
  readonly nonRuns: number
  readonly unexplained: number
  readonly lost: number
  readonly doubled: number
}

/** Looking further back would read history for minutes. */
const WINDOW_MS = 3_600_000

/** Null when it was removed meanwhile, or cannot be read. */
export async function ledgerOf(store: Store, schedule: Schedule): Promise<Ledger | null> {
  const untilAt = schedule.watermarkAt
  const found = await auditSchedule(store, schedule, { afterAt: untilAt - WINDOW_MS, untilAt, forgottenAt: 0 })
  if (typeof found === 'string') return null
  const { expected, runs, nonRuns, unexplained, lost, doubled } = found
  return {
    ...{ key: schedule.key, slots: expected, runs, nonRuns },
    ...{ unexplained: unexplained.count, lost: lost.count, doubled: doubled.count },
  }
}
