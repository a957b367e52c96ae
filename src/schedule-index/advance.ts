/** Decides where a row goes from `now`: to its next occurrence, or nowhere because it cannot be read; writing it down is the caller's part. */
import { EverytickError } from '../errors.ts'
import { parseCron } from '../schedule/cron.ts'
import { refuseNever } from '../schedule/never.ts'
import { seedOf } from '../schedule/schedule.ts'
import { NEVER_AT, type ScheduleIndexRow } from './contract.ts'

/** What decides the occurrences of a row; the identity is part of it, because `H` is derived from it. */
export type RowTiming = Pick<ScheduleIndexRow, 'userId' | 'key' | 'cron' | 'timezone'>

const optionsOf = ({ userId, key, timezone }: RowTiming) => ({
  seed: seedOf({ workspace: userId, key }),
  ...(timezone === undefined ? {} : { timezone }),
})

/**
 * The occurrence a claimed row waits for next. Occurrences are points on a fixed grid, so the one after `now` is the one
 * that stepping from the row's own cursor would come to, however many were passed over; a late claim moves none of them.
 */
export function advanced(row: ScheduleIndexRow, now: number): number {
  const next = parseCron(row.cron, optionsOf(row)).nextAt(Math.max(row.nextFireAt, now))
  if (next === null) return NEVER_AT
  // The engine promises this; here it is what keeps a mistake in it from becoming an endless loop of fires.
  if (next <= now) throw new EverytickError('TIMING_STUCK', `"${row.cron}" has no occurrence after ${now}`)
  return next
}

/** The first `nextFireAt` of a schedule that a person just gave; refuses what cannot be read or never comes. */
export function nextFireAfter(timing: RowTiming, now: number): number {
  const occurrences = parseCron(timing.cron, optionsOf(timing))
  refuseNever(occurrences, now)
  return occurrences.nextAt(now) ?? NEVER_AT
}
