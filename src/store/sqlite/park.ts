/** Pauses, resumes and removes schedules, as steps of one transaction; creating and changing is `put.ts`. */
import { toJsonText } from '../../json.ts'
import type { Pause } from '../../schedule/schedule.ts'
import type { Resume } from '../contract/schedules.ts'
import { COLUMNS, type Columns, snapshotOf } from './definition.ts'
import type { Value } from './driver.ts'
import { recordNonRun } from './non-runs.ts'
import { retract } from './retract.ts'
import { pauseText, revise } from './revisions.ts'
import { textOf } from './rows.ts'
import { ask, type Steps } from './steps.ts'

const FIND = `
  select s.id, s.revision, s.pause, s.quarantine is not null as quarantined, c.watermark_at
  from everytick_schedules s join everytick_cursors c on c.schedule_id = s.id
  where s.workspace = ? and s.key = ?`
const SET_PAUSE = `update everytick_schedules set pause = ?, updated_at = ?, updated_by = ? where id = ?`
const PARK = `
  update everytick_cursors set next_at = ?, watermark_at = ?, run_count = max(0, run_count - ?) where schedule_id = ?`
const MOVE = `update everytick_cursors set next_at = ?, watermark_at = ? where schedule_id = ?`
const REMOVE = `delete from everytick_schedules where`
const GONE = `returning id, workspace, key, revision, ${COLUMNS}`
const REMOVE_CURSOR = `delete from everytick_cursors where schedule_id = ? returning watermark_at`

/** Which schedule, and when. */
export interface At {
  readonly workspace: string
  readonly key: string
  readonly now: number
}

interface Found {
  readonly id: string
  readonly revision: number
  readonly pause: string | null
  /** A quarantine keeps the cursor parked, whatever else would move it. */
  readonly quarantined: number
  readonly watermark_at: number
}

export function* pause({ workspace, key, now }: At, { reason, until, ...words }: Omit<Pause, 'at'>): Steps<boolean> {
  const by = textOf(words.by, 'by')
  const pause = toJsonText({ reason, by, at: now, until }, { what: 'pause' })
  const [found] = yield* ask<Found>(FIND, workspace, key)
  if (found === undefined) return false
  const { id, revision } = found
  const { slots, watermarkAt } = yield* retract(id, now, found.watermark_at)
  yield { text: SET_PAUSE, values: [pause, now, by, id] }
  yield { text: PARK, values: [found.quarantined === 1 ? null : until, watermarkAt, slots.length, id] }
  yield revise({
    ...{ scheduleId: id, workspace, key, kind: 'paused', revision, at: now, by, cutAt: watermarkAt },
    ...{ before: pauseText(found.pause), after: pauseText(pause) },
  })
  return true
}

export function* resume({ workspace, key, now }: At, to: Resume): Steps<boolean> {
  const by = textOf(to.by, 'by')
  const [found] = yield* ask<Found>(FIND, workspace, key)
  if (found === undefined || found.pause === null || found.revision !== to.revision) return false
  if (to.expectedWatermarkAt !== undefined && found.watermark_at !== to.expectedWatermarkAt) return false
  const { id, revision } = found
  const watermarkAt = Math.max(found.watermark_at, to.watermarkAt)
  yield { text: SET_PAUSE, values: [null, now, by, id] }
  yield { text: MOVE, values: [found.quarantined === 1 ? null : to.nextAt, watermarkAt, id] }
  for (const nonRun of to.nonRuns) yield* recordNonRun(id, nonRun, now)
  yield revise({
    ...{ scheduleId: id, workspace, key, kind: 'resumed', revision, at: now, by, cutAt: watermarkAt },
    ...{ before: pauseText(found.pause), after: pauseText(null) },
  })
  return true
}

interface Gone extends Columns {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly revision: number
}

/** Removes those that a condition names; answers how many. */
export function* remove(
  which: { readonly where: string; readonly values: readonly Value[] },
  { now, ...who }: { now: number; by: string },
): Steps<number> {
  const by = textOf(who.by, 'by')
  const gone = yield* ask<Gone>(`${REMOVE} ${which.where} ${GONE}`, ...which.values)
  for (const one of gone) {
    const { id, workspace, key, revision } = one
    const [cursor] = yield* ask<{ watermark_at: number }>(REMOVE_CURSOR, id)
    const { watermarkAt } = yield* retract(id, now, cursor?.watermark_at ?? now)
    yield revise({
      ...{ scheduleId: id, workspace, key, kind: 'removed', revision, at: now, by, cutAt: watermarkAt },
      ...{ before: snapshotOf(one), after: 'null' },
    })
  }
  return gone.length
}
