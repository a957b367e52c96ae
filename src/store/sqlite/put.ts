/** Creates, changes or leaves alone schedules, with their cursors and planned runs, as steps of one transaction. */
import { EverytickError } from '../../errors.ts'
import type { PutAnswer, PutSchedule } from '../contract/schedules.ts'
import { COLUMNS, type Columns, columnsOf, sameColumns, sameJson, snapshotOf, valuesOf } from './definition.ts'
import { recordNonRun, skippedOf } from './non-runs.ts'
import { retract } from './retract.ts'
import { revise } from './revisions.ts'
import { textOf } from './rows.ts'
import { ask, type Steps } from './steps.ts'

interface Put extends Pick<PutSchedule, 'id' | 'nextAt' | 'watermarkAt' | 'from' | 'by'> {
  readonly workspace: string
  readonly key: string
  readonly columns: Columns
}

interface Found extends Columns {
  readonly id: string
  readonly revision: number
  readonly paused: number
  readonly paused_until: number | null
  readonly quarantined: number
  readonly next_at: number | null
  readonly watermark_at: number
}

const FIND = `
  select s.id, s.revision, ${COLUMNS.split(', ')
    .map((column) => `s.${column}`)
    .join(', ')},
    s.pause is not null as paused, s.pause ->> 'until' as paused_until,
    s.quarantine is not null as quarantined, c.next_at, c.watermark_at
  from everytick_schedules s join everytick_cursors c on c.schedule_id = s.id
  where s.workspace = ? and s.key = ?`
const INSERT = `
  insert into everytick_schedules (id, workspace, key, revision, ${COLUMNS},
    created_at, created_by, updated_at, updated_by, since_at)
  values (?, ?, ?, 1, ${COLUMNS.replaceAll(/\w+/g, '?')}, ?, ?, ?, ?, ?)`
const INSERT_CURSOR = `
  insert into everytick_cursors (schedule_id, next_at, watermark_at, revision) values (?, ?, ?, 1)`
const UPDATE = `
  update everytick_schedules
  set revision = ?, ${COLUMNS.replaceAll(/\w+/g, '$& = ?')}, updated_at = ?, updated_by = ?, quarantine = null
  where id = ?`
const UPDATE_CURSOR = `
  update everytick_cursors set next_at = ?, watermark_at = ?, revision = ?, made = max(0, made - ?) where schedule_id = ?`

/** Reads the whole input before anything is written. */
export function readPuts(schedules: readonly PutSchedule[]): Put[] {
  const seen = new Set<string>()
  return schedules.map(({ id, definition, nextAt, watermarkAt, from, by }) => {
    const workspace = textOf(definition.workspace, 'workspace')
    const key = textOf(definition.key, 'key')
    const name = `${workspace}\0${key}`
    if (seen.has(name))
      throw new EverytickError('DUPLICATE_KEY', `schedule "${key}" (${workspace}) stands twice in one call`)
    seen.add(name)
    return { id, workspace, key, columns: columnsOf(definition), nextAt, watermarkAt, from, by: textOf(by, 'by') }
  })
}

/** Looks at all of them before it writes the first: when one differs, none is written. */
export function* putAll(puts: readonly Put[], now: number): Steps<PutAnswer[]> {
  const looked: { put: Put; found: Found | undefined; same: boolean }[] = []
  for (const put of puts) {
    const [found] = yield* ask<Found>(FIND, put.workspace, put.key)
    looked.push({ put, found, same: found !== undefined && sameColumns(found, put.columns) })
  }
  const differs = ({ put, found, same }: (typeof looked)[number]): boolean =>
    found === undefined ? put.from !== null : !same && found.revision !== put.from
  if (looked.some(differs)) {
    return looked.map((one) => {
      if (one.found) return answerOf(one.found, { differs: differs(one) })
      return { ...absent(one.put), differs: differs(one) }
    })
  }
  const answers: PutAnswer[] = []
  for (const { put, found, same } of looked) {
    if (found === undefined) answers.push(yield* create(put, now))
    else answers.push(same ? answerOf(found, {}) : yield* change(put, found, now))
  }
  return answers
}

function* create(put: Put, now: number): Steps<PutAnswer> {
  const { id, workspace, key, nextAt, watermarkAt, by } = put
  yield { text: INSERT, values: [id, workspace, key, ...valuesOf(put.columns), now, by, now, by, watermarkAt] }
  yield { text: INSERT_CURSOR, values: [id, nextAt, watermarkAt] }
  return { id, created: true, changed: true, differs: false, revision: 1, nextAt }
}

function* change(put: Put, found: Found, now: number): Steps<PutAnswer> {
  const { workspace, key, columns, by } = put
  const revision = found.revision + 1
  const { slots, firstAt, watermarkAt: known } = yield* retract(found.id, now, found.watermark_at)
  const anew = !sameJson(found.timing, columns.timing)
  const watermarkAt = anew ? Math.max(known, put.watermarkAt) : known
  const nextAt = found.paused === 1 ? found.paused_until : anew ? put.nextAt : cursorOf(put, found, firstAt)
  yield { text: UPDATE, values: [revision, ...valuesOf(columns), now, by, found.id] }
  yield { text: UPDATE_CURSOR, values: [nextAt, watermarkAt, revision, slots.length, found.id] }
  for (const slot of slots) {
    if (slot.scheduled_at > watermarkAt) break
    yield* recordNonRun(found.id, skippedOf(slot, { reason: 'edited', detail: '' }), now)
  }
  yield revise({
    ...{ scheduleId: found.id, workspace, key, kind: 'edited', revision, at: now, by, cutAt: watermarkAt },
    ...{ before: snapshotOf(found), after: snapshotOf(columns) },
  })
  return answerOf(found, { changed: true, revision, nextAt })
}

/** Where the timing stays, a cursor goes back to what was taken back; a quarantine and the end of all runs left none. */
function cursorOf(put: Put, found: Found, firstAt: number | null): number | null {
  if (found.next_at !== null) return firstAt ?? found.next_at
  return firstAt === null || put.nextAt === null ? (firstAt ?? put.nextAt) : Math.min(firstAt, put.nextAt)
}

const answerOf = (found: Found, change: Partial<PutAnswer>): PutAnswer => ({
  id: found.id,
  created: false,
  changed: false,
  differs: false,
  revision: found.revision,
  nextAt: found.next_at,
  ...change,
})

/** One that would have been created, had none of the others differed. */
const absent = ({ id }: Put): PutAnswer => ({
  ...{ id, created: false, changed: false, differs: false },
  ...{ revision: 0, nextAt: null },
})
