/** The row of occurrences that became no run; who decides that they do not is planning, or whoever resumes a schedule. */
import type { NonRun } from '../../plan/non-run.ts'
import type { Value } from './driver.ts'

export const INSERT_NON_RUN = `
  insert into everytick_non_runs (schedule_id, from_at, to_at, count, state, reason, recorded_at)
  values (?, ?, ?, ?, ?, ?, ?)`

export const nonRunValues = (scheduleId: string, nonRun: NonRun, now: number): Value[] => {
  const { fromAt, toAt, count, state, reason } = nonRun
  return [scheduleId, fromAt, toAt, count, state, reason, now]
}
