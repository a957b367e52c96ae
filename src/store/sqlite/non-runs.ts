/** Writes occurrences that became no run, as few rows as can tell it; who decides that they do not run is planning, a concurrency group, or whoever changes a schedule. */
import type { NonRun } from '../../plan/non-run.ts'
import { ask, type Steps } from './steps.ts'

// A record that grows ages from its newest occurrence on, or the recent ones would be forgotten with the old.
export const GROW = `
  update everytick_non_runs set to_at = ?, count = count + ?, recorded_at = ?
  where rowid = (
    select rowid from everytick_non_runs
    where schedule_id = ? and to_at = ? and state = ? and reason = ? and detail = ? limit 1)
  returning 1 as grown`
const INSERT = `
  insert into everytick_non_runs (schedule_id, from_at, to_at, count, state, reason, detail, recorded_at)
  values (?, ?, ?, ?, ?, ?, ?, ?)`

export function* recordNonRun(scheduleId: string, nonRun: NonRun, now: number): Steps<void> {
  const { fromAt, toAt, count, state, reason, detail, afterAt } = nonRun
  if (afterAt !== null) {
    const grown = yield* ask(GROW, toAt, count, now, scheduleId, afterAt, state, reason, detail)
    if (grown.length > 0) return
  }
  yield { text: INSERT, values: [scheduleId, fromAt, toAt, count, state, reason, detail, now] }
}

/** One occurrence alone, as its run knew it. */
export const skippedOf = (slot: Slot, { reason, detail }: Pick<NonRun, 'reason' | 'detail'>): NonRun => ({
  ...{ state: 'skipped', reason, detail, count: 1 },
  ...{ fromAt: slot.scheduled_at, toAt: slot.scheduled_at, afterAt: slot.slot_start_at },
})

export interface Slot {
  readonly scheduled_at: number
  readonly slot_start_at: number | null
}
