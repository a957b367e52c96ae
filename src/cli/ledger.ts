/** Checks that every occurrence of a schedule is accounted for once, up to its watermark, from stored facts; it repairs nothing. */
import type { Run } from '../run/run.ts'
import { type Schedule, seedOf, timingOf } from '../schedule/schedule.ts'
import type { Store } from '../store/contract/store.ts'

export interface Ledger {
  readonly key: string
  /** Occurrences looked at: those after `fromAt` up to the watermark. */
  readonly slots: number
  readonly runs: number
  /** Occurrences on record as missed or skipped. */
  readonly nonRuns: number
  readonly lost: number
  readonly doubled: number
}

/** Looking further back would read history for minutes. */
const WINDOW_MS = 3_600_000
const PAGE = 200

export async function ledgerOf(store: Store, schedule: Schedule): Promise<Ledger> {
  const timing = timingOf(schedule.timing, seedOf(schedule))
  const untilAt = schedule.watermarkAt
  const fromAt = Math.max(schedule.createdAt, untilAt - WINDOW_MS)
  const slots = timing.countAt(fromAt, untilAt)
  const counts = new Map<number, number>()
  for (const { scheduledAt } of await runsSince(store, schedule, fromAt)) {
    if (scheduledAt !== null && scheduledAt > fromAt && scheduledAt <= untilAt)
      counts.set(scheduledAt, (counts.get(scheduledAt) ?? 0) + 1)
  }
  let nonRuns = 0
  for (const range of await store.history.nonRuns(schedule.id)) {
    nonRuns += timing.countAt(Math.max(range.fromAt - 1, fromAt), Math.min(range.toAt, untilAt))
  }
  const doubled = [...counts.values()].reduce((sum, count) => sum + count - 1, 0)
  return { key: schedule.key, slots, runs: counts.size, nonRuns, lost: slots - counts.size - nonRuns, doubled }
}

/** Newest first, page by page, until a page is older than the window. */
async function runsSince(store: Store, { id }: Schedule, fromAt: number): Promise<Run[]> {
  const found: Run[] = []
  for (let last: Run | undefined; ; ) {
    const after = last ? { after: { createdAt: last.createdAt, id: last.id } } : {}
    const page = await store.history.runs({ scheduleId: id }, { limit: PAGE, ...after })
    found.push(...page)
    last = page.at(-1)
    if (page.length < PAGE || (last && last.createdAt < fromAt)) return found
  }
}
