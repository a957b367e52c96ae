/** The share of occurrences that are accounted for, from audits of a few schedules at a time in turn; `app.audit()` does a complete audit. */
import type { Audited } from '../../plan/audit.ts'
import type { Schedule } from '../../schedule/schedule.ts'
import { auditSchedule } from '../../scheduler/audit-schedule.ts'
import type { Store } from '../../store/contract/store.ts'

/** Schedules per scan, and schedules in the result. */
const SCANNED = 5
const REMEMBERED = 200
const SPAN_MS = 900_000
/** Grace period: due occurrences are planned well within it, unless planning is stalled. */
const MARGIN_MS = 60_000

export interface Sample {
  readonly expected: number
  readonly accounted: number
}

export interface Coverage {
  /** Accounted / expected over the last audits; null if nothing was expected. */
  poll(store: Store, now: number): Promise<number | null>
}

export function createCoverage(retention: { readonly historyMs: number; readonly journalMs: number }): Coverage {
  /** The latest audit of each schedule, oldest first. */
  const samples = new Map<string, Sample>()
  let after: { readonly workspace: string; readonly key: string } | undefined
  // Stay within the retention, even while the cleanup runs.
  const spanMs = Math.min(SPAN_MS, retention.historyMs / 2, retention.journalMs / 2)

  return {
    async poll(store, now) {
      const page = await store.schedules.list({ limit: SCANNED, ...(after ? { after } : {}) })
      const last = page.at(-1)
      after = page.length < SCANNED || !last ? undefined : { workspace: last.workspace, key: last.key }
      const untilAt = now - MARGIN_MS
      const span = { afterAt: untilAt - spanMs, untilAt, forgottenAt: now - retention.journalMs }
      for (const schedule of page) {
        const found = await auditSchedule(store, schedule, span)
        samples.delete(schedule.id)
        if (typeof found !== 'string') samples.set(schedule.id, sampleOf(schedule, found))
      }
      for (const id of [...samples.keys()].slice(0, Math.max(0, samples.size - REMEMBERED))) samples.delete(id)
      return ratioOf([...samples.values()])
    },
  }
}

const sampleOf = (schedule: Schedule, { expected, lost, pending }: Audited): Sample => ({
  expected: expected + (plans(schedule) ? pending : 0),
  accounted: expected - lost.count,
})

/** Whether its occurrences are planned as they come due; those of a paused schedule are recorded when it resumes. */
const plans = ({ pause, quarantine, nextAt }: Schedule): boolean => !pause && !quarantine && nextAt !== null

export function ratioOf(samples: readonly Sample[]): number | null {
  const expected = samples.reduce((sum, each) => sum + each.expected, 0)
  return expected === 0 ? null : samples.reduce((sum, each) => sum + each.accounted, 0) / expected
}
