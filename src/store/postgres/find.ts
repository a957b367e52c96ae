/** Finds schedules for people, in Postgres: by the narrowest index there is, and by a look at so many rows where there is none; what may be asked for is the contract's. */
import type { FindPage, ScheduleFilter, ScheduleStore } from '../contract/schedules.ts'
import type { Connection } from './connection.ts'
import { isId, SCHEDULE_FIELDS, type ScheduleRow, scheduleFields, scheduleOf, spanOf } from './rows.ts'
import { prepared, type Statement, unprepared, type Value } from './statement.ts'
import { unbounded, withinBytes } from './within-bytes.ts'

/** Rows that one call looks at, where no index has only what is asked for. */
export const SCAN_ROWS = 5000
/** So many overdue schedules are found by their cursors; where there are more, any look meets some. */
export const FEW_OVERDUE = 2000
/** As much of a tag as its table has. */
const TAG_LENGTH = 100

interface Found extends ScheduleRow {
  edge_workspace: string | null
  edge_key: string | null
}

export function createFind(connection: Connection, schema: string): Pick<ScheduleStore, 'byId' | 'find'> {
  const [byId, overdue] = [byIdStatement(schema), overdueStatement(schema)]
  const { ask } = connection.api

  const areFewOverdue = async (ms: number | undefined): Promise<boolean> =>
    ms !== undefined && (await ask<{ many: number }>(overdue, [ms]))[0]!.many <= FEW_OVERDUE

  return {
    async byId(id) {
      const [row] = isId(id) ? await ask<ScheduleRow>(byId, [id]) : []
      return row ? scheduleOf(row) : null
    },
    async find(filter, page) {
      const walk = walkOf(schema, filter, await areFewOverdue(filter.overdueMs))
      const { rows, isCut } = unbounded(await ask<Found>(...findQuestion(schema, walk, page)))
      const found = rows.filter(({ id }) => id !== null)
      const schedules = found.slice(0, page.limit).map(({ edge_workspace, edge_key, ...row }) => scheduleOf(row))
      const last = schedules.at(-1)
      if (last && (isCut || found.length > page.limit))
        return { schedules, next: { workspace: last.workspace, key: last.key } }
      const { edge_workspace: workspace, edge_key: key } = rows[0]!
      return { schedules, next: workspace === null || key === null ? null : { workspace, key } }
    },
  }
}

/** SQL that binds its values where it is put; `s` is what the schedule is called there. */
type Condition = (bind: (value: Value, type: string) => string, s: string) => string

/** Rows in the order of (workspace, key), and what must hold of them. */
export interface Walk {
  /** What is walked, as `w`; has all of the schedule unless it is the table of tags. */
  readonly table: string
  readonly hasAll: boolean
  /** In the words of its index. */
  readonly within: readonly Condition[]
  /** What each schedule is looked at for. */
  readonly left: readonly Condition[]
  /** Whether all of it may be looked at. */
  readonly isShort: boolean
}

export function walkOf(schema: string, filter: ScheduleFilter, areFewOverdue: boolean): Walk {
  const { workspace, job, tag, source, paused, quarantined, overdueMs, text } = filter
  const within: Condition[] = workspace === undefined ? [] : [(bind) => `w.workspace = ${bind(workspace, 'text')}`]
  const left: Condition[] = []
  const byTag = tag !== undefined && !areFewOverdue
  if (byTag) within.push((bind) => `w.tag = left(${bind(tag, 'text')}, ${TAG_LENGTH})`)
  if (tag !== undefined && (!byTag || tag.length >= TAG_LENGTH))
    left.push((bind, s) => `${s}.tags ? ${bind(tag, 'text')}`)
  let isChosen = areFewOverdue || byTag
  /** The first that has an index is walked by it; the others are looked at. */
  const narrow = (condition: string): void => {
    if (isChosen) left.push((_, s) => `${s}.${condition}`)
    else within.push(() => `w.${condition}`)
    isChosen = true
  }
  if (quarantined) narrow('quarantine is not null')
  if (paused) narrow('pause is not null')
  if (source === 'code') narrow(`source <> 'api'`)
  if (quarantined === false) left.push((_, s) => `${s}.quarantine is null`)
  if (paused === false) left.push((_, s) => `${s}.pause is null`)
  if (source === 'api') left.push((_, s) => `${s}.source = 'api'`)
  if (job !== undefined) left.push((bind, s) => `${s}.job = ${bind(job, 'text')}`)
  if (text !== undefined) left.push((bind) => `strpos(lower(w.key), lower(${bind(text, 'text')})) > 0`)
  if (overdueMs !== undefined && !areFewOverdue)
    left.push((bind, s) => isOverdue(schema, `${s}.id`, bind(overdueMs, 'float8')))
  const table = areFewOverdue ? fewOverdue(schema, overdueMs ?? 0) : `${schema}.${byTag ? 'tags' : 'schedules'}`
  return { table, hasAll: !byTag, within, left, isShort: areFewOverdue || left.length === 0 }
}

const behind = (schema: string, ms: string): string => `(select ${schema}.now_at()) - ${spanOf(ms)}`

const isOverdue = (schema: string, id: string, ms: string): string =>
  `(select c.next_at from ${schema}.cursors c where c.schedule_id = ${id} limit 1) <= ${behind(schema, ms)}`

/** With an end of its own, so that the server goes by the index of cursors; some more may have come due since they were counted. */
const fewOverdue = (schema: string, ms: number): string => `(
    select s.* from (
      select schedule_id from ${schema}.cursors where next_at <= ${behind(schema, `${Number(ms)}::float8`)}
      order by next_at limit ${2 * FEW_OVERDUE}
    ) c cross join lateral (select * from ${schema}.schedules where id = c.schedule_id limit 1) s
  )`

/**
 * One statement, so that the page, and the edge up to which was looked, are of one moment. What is looked at is a list with
 * an end of its own: only then does the server walk the index, however rare it takes what is looked for to be.
 */
export function findQuestion(
  schema: string,
  walk: Walk,
  { limit, after, maxBytes, omitPayload = false }: FindPage,
): readonly [Statement, Value[]] {
  const values: Value[] = []
  const bind = (value: Value, type: string): string => `$${values.push(value)}::${type}`
  const s = walk.hasAll ? 'w' : 's'
  const within = [
    ...walk.within.map((condition) => condition(bind, s)),
    ...(after ? [`(w.workspace, w.key) > (${bind(after.workspace, 'text')}, ${bind(after.key, 'text')})`] : []),
  ]
  const walked = `select w.* from ${walk.table} w ${where(within)} order by w.workspace, w.key`
  const hasRow = walk.hasAll || walk.left.length === 0
  const row = `cross join lateral (
    select * from ${schema}.schedules where workspace = w.workspace and key = w.key limit 1
  ) s`
  const most = bind(limit + 1, 'int')
  const end = walk.left.length === 0 ? `limit ${most}` : walk.isShort ? '' : `limit ${SCAN_ROWS}`
  const edge = `select w.workspace, w.key from ${walk.table} w
  ${where([...within, `(select count(*) from found) < ${most}`])} order by w.workspace, w.key offset ${SCAN_ROWS - 1} limit 1`
  const text = `
with found as materialized (
  select w.workspace, w.key from (${walked} ${end}) w ${hasRow ? '' : row}
  ${where(walk.left.map((condition) => condition(bind, s)))}
  order by w.workspace, w.key limit ${most}
)
select e.workspace as edge_workspace, e.key as edge_key, ${scheduleFields(omitPayload ? ['payload'] : [])}
from (${walk.isShort ? 'select null as workspace, null as key' : `select 1) one left join (${edge}`}) e ${walk.isShort ? '' : 'on true'}
left join found f on true
left join lateral (select * from ${schema}.schedules where workspace = f.workspace and key = f.key limit 1) s on true
left join lateral (select * from ${schema}.cursors where schedule_id = s.id limit 1) c on true
order by f.workspace, f.key`
  if (maxBytes === undefined) return [unprepared(text), values]
  const bound = { order: 'q.workspace, q.key', columns: LARGE, maxBytes: bind(maxBytes, 'bigint') }
  return [unprepared(withinBytes(text, bound)), values]
}

/** Columns of a schedule that may be large. */
const LARGE = ['payload', 'timing', 'metadata', 'description', 'tags', 'policy'] as const

const where = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''

const byIdStatement = (schema: string): Statement =>
  prepared(`
select ${SCHEDULE_FIELDS} from ${schema}.schedules s join ${schema}.cursors c on c.schedule_id = s.id
where s.id = $1::uuid`)

export const overdueStatement = (schema: string): Statement =>
  prepared(`
select count(*) as many from (
  select from ${schema}.cursors where next_at <= ${behind(schema, '$1::float8')} limit ${FEW_OVERDUE + 1}
) overdue`)
