/** Creates, changes or leaves alone schedules, with their cursors and planned runs, as steps of one transaction. */
import { EverytickError } from '../../errors.ts'
import type { PutAnswer, PutSchedule } from '../contract/schedules.ts'
import { pairsText, stretchesOf } from './batch.ts'
import { COLUMNS, type Columns, columnsOf, sameColumns, sameJson, snapshotOf, valuesOf } from './definition.ts'
import type { Value } from './driver.ts'
import { recordNonRun, skippedOf } from './non-runs.ts'
import { pause } from './park.ts'
import { retract } from './retract.ts'
import { revise } from './revisions.ts'
import { textOf } from './rows.ts'
import type { Steps } from './steps.ts'

interface Put extends Pick<PutSchedule, 'id' | 'nextAt' | 'watermarkAt' | 'from' | 'by'> {
  readonly pause: NonNullable<PutSchedule['pause']> | null
  readonly workspace: string
  readonly key: string
  readonly columns: Columns
}

interface Found extends Columns {
  readonly id: string
  readonly key: string
  readonly revision: number
  readonly paused: number
  readonly paused_until: number | null
  readonly quarantined: number
  readonly next_at: number | null
  readonly watermark_at: number
}

export const FIND = `
  select s.id, s.key, s.revision, ${COLUMNS.split(', ')
    .map((column) => `s.${column}`)
    .join(', ')},
    s.pause is not null as paused, s.pause ->> 'until' as paused_until,
    s.quarantine is not null as quarantined, c.next_at, c.watermark_at
  from json_each(?) j cross join everytick_schedules s on s.workspace = ? and s.key = j.value
  cross join everytick_cursors c on c.schedule_id = s.id`
/** What many schedules of one call have in common: all but key and timing. */
const COMMON = COLUMNS.replace('timing, ', '')
const INSERT = `
  insert into everytick_schedules (id, key, timing, revision, workspace, ${COMMON},
    created_at, created_by, updated_at, updated_by, since_at)
  select j.key, j.value ->> 0, j.value ->> 1, 1, ?, ${COMMON.replaceAll(/\w+/g, '?')}, ?, ?, ?, ?, ? from json_each(?) j`
/** Not by a trigger, with which SQLite would first write down all rows of an insert; those of changes and removals are. */
const INSERT_TAGS = `
  insert or ignore into everytick_tags select t.value, ?, k.value from json_each(?) k cross join json_each(?) t`
const INSERT_CURSOR = `
  insert into everytick_cursors (schedule_id, next_at, watermark_at, revision)
  select j.key, j.value, ?, 1 from json_each(?) j`
const UPDATE = `
  update everytick_schedules
  set revision = ?, ${COLUMNS.replaceAll(/\w+/g, '$& = ?')}, updated_at = ?, updated_by = ?, quarantine = null
  where id = ?`
const UPDATE_CURSOR = `
  update everytick_cursors set next_at = ?, watermark_at = ?, revision = ?, run_count = max(0, run_count - ?) where schedule_id = ?`

/** Reads the whole input before anything is written. */
export function readPuts(schedules: readonly PutSchedule[]): Put[] {
  const seen = new Set<string>()
  return schedules.map(({ id, definition, nextAt, watermarkAt, from, by, pause = null }) => {
    const workspace = textOf(definition.workspace, 'workspace')
    const key = textOf(definition.key, 'key')
    const name = `${workspace}\0${key}`
    if (seen.has(name))
      throw new EverytickError('DUPLICATE_KEY', `schedule "${key}" (${workspace}) stands twice in one call`)
    seen.add(name)
    const columns = columnsOf(definition)
    return { id, workspace, key, columns, nextAt, watermarkAt, from, by: textOf(by, 'by'), pause }
  })
}

/** Looks at all of them before it writes the first: when one differs, none is written. */
export function* putAll(puts: readonly Put[], now: number): Steps<PutAnswer[]> {
  const all = yield* findAll(puts)
  const looked = puts.map((put) => {
    const found = all.get(put)
    return { put, found, same: found !== undefined && sameColumns(found, put.columns) }
  })
  const differs = ({ put, found, same }: (typeof looked)[number]): boolean =>
    found === undefined ? put.from !== null : !same && found.revision !== put.from
  if (looked.some(differs)) {
    return looked.map((one) => {
      if (one.found) return answerOf(one.found, { differs: differs(one) })
      return { ...absent(one.put), differs: differs(one) }
    })
  }
  const answers: PutAnswer[] = []
  yield* createAll(
    looked.flatMap(({ put, found }) => (found === undefined ? [put] : [])),
    now,
  )
  for (const { put, found, same } of looked) {
    if (found === undefined) answers.push(created(put))
    else answers.push(same ? answerOf(found, {}) : yield* change(put, found, now))
  }
  return answers
}

/** Those that exist. A workspace has a statement of its own, since its keys are found by the index that begins with it. */
function* findAll(puts: readonly Put[]): Steps<Map<Put, Found>> {
  const known = new Map<Put, Found>()
  const uniform = (a: Put, b: Put): boolean => a.workspace === b.workspace
  for (const stretch of stretchesOf(puts, { uniform, lengthOf: ({ key }) => key.length })) {
    const values = [JSON.stringify(stretch.map(({ key }) => key)), (stretch[0] as Put).workspace]
    const rows = (yield { text: FIND, values, rows: stretch.length }) as readonly unknown[] as readonly Found[]
    const byKey = new Map(rows.map((found) => [found.key, found]))
    for (const put of stretch) {
      const found = byKey.get(put.key)
      if (found !== undefined) known.set(put, found)
    }
  }
  return known
}

function* createAll(puts: readonly Put[], now: number): Steps<void> {
  const commonOf = ({ workspace, columns, watermarkAt, by }: Put): Value[] => {
    const [, ...common] = valuesOf(columns)
    return [workspace, ...common, now, by, now, by, watermarkAt]
  }
  const news = puts.map((put) => ({ put, common: commonOf(put) }))
  const uniform = (a: (typeof news)[number], b: (typeof news)[number]): boolean =>
    a.common.every((value, i) => value === b.common[i])
  const lengthOf = ({ put: { columns } }: (typeof news)[number]): number => columns.timing.length
  for (const stretch of stretchesOf(news, { uniform, lengthOf })) {
    const [{ put, common }] = stretch as [(typeof news)[number]]
    const named = stretch.map(({ put: { id, key, columns } }) => [id, [key, columns.timing]] as const)
    const cursors = stretch.map(({ put: { id, nextAt } }) => [id, nextAt] as const)
    const rows = stretch.length
    yield { text: INSERT, values: [...common, pairsText(named)], rows }
    if (put.columns.tags !== '[]') {
      const keys = JSON.stringify(stretch.map(({ put: { key } }) => key))
      yield { text: INSERT_TAGS, values: [put.workspace, keys, put.columns.tags], rows }
    }
    yield { text: INSERT_CURSOR, values: [put.watermarkAt, pairsText(cursors)], rows }
  }
  for (const { workspace, key, pause: words } of puts) if (words) yield* pause({ workspace, key, now }, words)
}

const created = ({ id, nextAt, pause: words }: Put): PutAnswer => ({
  ...{ id, created: true, changed: true, differs: false },
  ...{ revision: 1, nextAt: words ? words.until : nextAt },
})

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
