/** Lists occurrences that became no run for people, in Postgres, newest first; those of one schedule in a span are `ledger.ts`. */
import type { NonRun } from '../../plan/non-run.ts'
import type { HistoryStore, ListedNonRun, NonRunFilter, NonRunPage, NonRunPlace } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import { instantAt, isId, msOf } from './rows.ts'
import { type Statement, texts, unprepared, type Value } from './statement.ts'

/** Rows that one call looks at: a few milliseconds of work. */
export const SCAN_ROWS = 2000

interface Row extends Pick<NonRun, 'count' | 'state' | 'reason' | 'detail'> {
  readonly schedule_id: string
  readonly from_at: number
  readonly to_at: number
  readonly recorded_at: number
  readonly workspace: string
  readonly key: string
  readonly job: string
  readonly queue: string
}

export function createFindNonRuns(connection: Connection, schema: string): Pick<HistoryStore, 'findNonRuns'> {
  const { ask } = connection.api
  return {
    async findNonRuns(filter, page) {
      if (filter.scheduleId !== undefined && !isId(filter.scheduleId)) return { nonRuns: [], next: null }
      // The edge comes first: whatever is added meanwhile, all that lies before it is looked at.
      const [edge] = await ask<Pick<Row, 'schedule_id' | 'to_at'>>(...nonRunEdge(schema, filter, page))
      const rows = await ask<Row>(...nonRunPage(schema, filter, page))
      const nonRuns = rows.slice(0, page.limit).map(listed)
      const last = nonRuns.at(-1)
      if (last && rows.length > page.limit) return { nonRuns, next: placeOf(last) }
      return { nonRuns, next: edge ? { toAt: edge.to_at, scheduleId: edge.schedule_id } : null }
    },
  }
}

const placeOf = ({ toAt, scheduleId }: NonRunPlace): NonRunPlace => ({ toAt, scheduleId })

const listed = (row: Row): ListedNonRun => {
  const { schedule_id: scheduleId, from_at: fromAt, to_at: toAt, recorded_at: recordedAt, ...rest } = row
  return { ...rest, scheduleId, fromAt, toAt, recordedAt }
}

type Question = readonly [Statement, Value[]]
type Bind = (value: Value, type: string) => string

/** The last place that one call looks at; there is none where it looks at all that are left. */
export function nonRunEdge(schema: string, filter: NonRunFilter, { after }: Pick<NonRunPage, 'after'>): Question {
  const { values, bind } = binder()
  const from = looked(schema, { filter, after, bind })
  const text = `select ${msOf('n.to_at')} as to_at, n.schedule_id ${from} offset ${SCAN_ROWS - 1} limit 1`
  return [unprepared(text), values]
}

/** One more than the page, if there is one. The definition of a schedule that was removed is that of its last revision. */
export function nonRunPage(schema: string, filter: NonRunFilter, { limit, after }: NonRunPage): Question {
  const { values, bind } = binder()
  const { workspace, job, queue, states } = filter
  const from = looked(schema, { filter, after, bind })
  const conditions = [
    ...(workspace === undefined ? [] : [`o.workspace = ${bind(workspace, 'text')}`]),
    ...(job === undefined ? [] : [`o.job = ${bind(job, 'text')}`]),
    ...(queue === undefined ? [] : [`o.queue = ${bind(queue, 'text')}`]),
    ...(states === undefined ? [] : [`n.state = any(${bind(texts(states), 'text')}::text[])`]),
  ]
  const text = `
select n.schedule_id, ${msOf('n.from_at')} as from_at, ${msOf('n.to_at')} as to_at, n.count, n.state, n.reason, n.detail,
  ${msOf('n.recorded_at')} as recorded_at, o.workspace, o.key, o.job, o.queue
from (select n.* ${from} limit ${SCAN_ROWS}) n
cross join lateral (
  select s.workspace, s.key, s.job, s.queue from ${schema}.schedules s where s.id = n.schedule_id
  union all
  (select r.workspace, r.key, r.before ->> 'job', r.before ->> 'queue' from ${schema}.revisions r
    where r.schedule_id = n.schedule_id and not exists (select from ${schema}.schedules where id = n.schedule_id)
    order by r.id desc limit 1)
) o
${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
order by n.to_at desc, n.schedule_id desc limit ${bind(limit + 1, 'int')}`
  return [unprepared(text), values]
}

interface Looking {
  readonly filter: NonRunFilter
  readonly after: NonRunPlace | undefined
  readonly bind: Bind
}

function looked(schema: string, { filter: { scheduleId }, after, bind }: Looking): string {
  const conditions = [
    ...(scheduleId === undefined ? [] : [`n.schedule_id = ${bind(scheduleId, 'uuid')}`]),
    ...(after === undefined
      ? []
      : [`(n.to_at, n.schedule_id) < (${instantAt(bind(after.toAt, 'float8'))}, ${bind(after.scheduleId, 'uuid')})`]),
  ]
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
  return `from ${schema}.non_runs n ${where} order by n.to_at desc, n.schedule_id desc`
}

function binder(): { values: Value[]; bind: Bind } {
  const values: Value[] = []
  return { values, bind: (value, type) => `$${values.push(value)}::${type}` }
}
