/** Creates, changes or leaves alone one schedule, with its cursor and its planned runs, as steps of one transaction. */
import { EverytickError } from '../../errors.ts'
import type { PutAnswer, PutSchedule } from '../contract/schedules.ts'
import { type Columns, columnsOf, sameColumns, sameJson } from './definition.ts'
import { retract } from './retract.ts'
import { textOf } from './rows.ts'
import { ask, type Steps } from './steps.ts'

interface Put {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly columns: Columns
  readonly nextAt: number | null
  readonly watermarkAt: number
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
  select s.id, s.revision, s.timing, s.job, s.queue, s.payload, s.priority, s.policy, s.catch_up, s.description, s.tags,
    s.metadata, s.source, s.pause is not null as paused, s.pause ->> 'until' as paused_until,
    s.quarantine is not null as quarantined, c.next_at, c.watermark_at
  from everytick_schedules s join everytick_cursors c on c.schedule_id = s.id
  where s.workspace = ? and s.key = ?`
const INSERT = `
  insert into everytick_schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up,
    description, tags, metadata, source, created_at, updated_at)
  values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_CURSOR = `
  insert into everytick_cursors (schedule_id, next_at, watermark_at, revision) values (?, ?, ?, 1)`
const UPDATE = `
  update everytick_schedules
  set revision = ?, timing = ?, job = ?, queue = ?, payload = ?, priority = ?, policy = ?, catch_up = ?, description = ?,
    tags = ?, metadata = ?, source = ?, updated_at = ?, quarantine = null
  where id = ?`
const UPDATE_CURSOR = `
  update everytick_cursors set next_at = ?, watermark_at = ?, revision = ? where schedule_id = ?`

/** Reads the whole input before anything is written. */
export function readPuts(schedules: readonly PutSchedule[]): Put[] {
  const seen = new Set<string>()
  return schedules.map(({ id, definition, nextAt, watermarkAt }) => {
    const workspace = textOf(definition.workspace, 'workspace')
    const key = textOf(definition.key, 'key')
    const name = `${workspace}\0${key}`
    if (seen.has(name))
      throw new EverytickError('DUPLICATE_KEY', `schedule "${key}" (${workspace}) stands twice in one call`)
    seen.add(name)
    return { id, workspace, key, columns: columnsOf(definition), nextAt, watermarkAt }
  })
}

export function* putAll(puts: readonly Put[], now: number): Steps<PutAnswer[]> {
  const answers: PutAnswer[] = []
  for (const put of puts) {
    const [found] = yield* ask<Found>(FIND, put.workspace, put.key)
    if (found === undefined) answers.push(yield* create(put, now))
    else if (sameColumns(found, put.columns)) answers.push(answerOf(found, {}))
    else answers.push(yield* change(put, found, now))
  }
  return answers
}

function* create(put: Put, now: number): Steps<PutAnswer> {
  const { id, workspace, key, nextAt, watermarkAt } = put
  yield { text: INSERT, values: [id, workspace, key, ...valuesOf(put.columns), now, now] }
  yield { text: INSERT_CURSOR, values: [id, nextAt, watermarkAt] }
  return { id, created: true, changed: true, revision: 1, nextAt }
}

function* change(put: Put, found: Found, now: number): Steps<PutAnswer> {
  const revision = found.revision + 1
  const retracted = yield* retract(found.id, now)
  const anew = !sameJson(found.timing, put.columns.timing) || found.quarantined === 1
  const known = Math.min(found.watermark_at, now)
  // A quarantine parked the cursor, so that there is none to go back to.
  const nextAt = found.paused === 1 ? found.paused_until : anew ? put.nextAt : (retracted ?? found.next_at)
  const watermarkAt = anew ? Math.max(known, put.watermarkAt) : known
  yield { text: UPDATE, values: [revision, ...valuesOf(put.columns), now, found.id] }
  yield { text: UPDATE_CURSOR, values: [nextAt, watermarkAt, revision, found.id] }
  return answerOf(found, { changed: true, revision, nextAt })
}

const answerOf = (found: Found, change: Partial<PutAnswer>): PutAnswer => ({
  id: found.id,
  created: false,
  changed: false,
  revision: found.revision,
  nextAt: found.next_at,
  ...change,
})

const valuesOf = (columns: Columns) => [
  columns.timing,
  columns.job,
  columns.queue,
  columns.payload,
  columns.priority,
  columns.policy,
  columns.catch_up,
  columns.description,
  columns.tags,
  columns.metadata,
  columns.source,
]
