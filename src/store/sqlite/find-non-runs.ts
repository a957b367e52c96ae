/** Lists occurrences that became no run for people, in SQLite, newest first; those of one schedule in a span are `ledger.ts`. */
import type { NonRun } from '../../plan/non-run.ts'
import type { HistoryStore, ListedNonRun, NonRunFilter, NonRunPage, NonRunPlace } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'

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

export function createFindNonRuns(connection: Connection): Pick<HistoryStore, 'findNonRuns'> {
  return {
    findNonRuns: async (filter, page) =>
      connection.read(() => {
        // The edge comes first: whatever is added meanwhile, all that lies before it is looked at.
        const edges = nonRunEdge(filter, page)
        const [edge] = connection.all<Pick<Row, 'schedule_id' | 'to_at'>>(edges.text, ...edges.values)
        const { text, values } = nonRunPage(filter, page)
        const rows = connection.all<Row>(text, ...values)
        const nonRuns = rows.slice(0, page.limit).map(listed)
        const last = nonRuns.at(-1)
        if (last && rows.length > page.limit) return { nonRuns, next: placeOf(last) }
        return { nonRuns, next: edge ? { toAt: edge.to_at, scheduleId: edge.schedule_id } : null }
      }),
  }
}

const placeOf = ({ toAt, scheduleId }: NonRunPlace): NonRunPlace => ({ toAt, scheduleId })

const listed = (row: Row): ListedNonRun => {
  const { schedule_id: scheduleId, from_at: fromAt, to_at: toAt, recorded_at: recordedAt, ...rest } = row
  return { ...rest, scheduleId, fromAt, toAt, recordedAt }
}

interface Question {
  readonly text: string
  readonly values: readonly Value[]
}

/** The last place that one call looks at; there is none where it looks at all that are left. */
export function nonRunEdge(filter: NonRunFilter, { after }: Pick<NonRunPage, 'after'>): Question {
  const { text, values } = looked(filter, after)
  return { text: `select to_at, schedule_id ${text} limit 1 offset ?`, values: [...values, SCAN_ROWS - 1] }
}

/** One more than the page, if there is one. The definition of a schedule that was removed is that of its last revision. */
export function nonRunPage(filter: NonRunFilter, { limit, after }: NonRunPage): Question {
  const { text, values } = looked(filter, after)
  const { workspace, job, queue, states } = filter
  const conditions = ['workspace is not null']
  const bound: Value[] = []
  const add = (condition: string, ...given: Value[]): void => {
    conditions.push(condition)
    bound.push(...given)
  }
  if (workspace !== undefined) add('workspace = ?', workspace)
  if (job !== undefined) add('job = ?', job)
  if (queue !== undefined) add('queue = ?', queue)
  if (states !== undefined) add(`state in (${states.map(() => '?').join(', ')})`, ...states)
  const owner = (column: string, gone: string): string => `coalesce(s.${column}, ${gone}) as ${column}`
  return {
    text: `
      select * from (
        select n.*, ${owner('workspace', 'r.workspace')}, ${owner('key', 'r.key')},
          ${owner('job', "r.before ->> 'job'")}, ${owner('queue', "r.before ->> 'queue'")}
        from (select schedule_id, from_at, to_at, count, state, reason, detail, recorded_at ${text} limit ?) n
        left join everytick_schedules s on s.id = n.schedule_id
        left join everytick_revisions r on s.id is null and r.id = (
          select id from everytick_revisions where schedule_id = n.schedule_id order by id desc limit 1))
      where ${conditions.join(' and ')}
      order by to_at desc, schedule_id desc limit ?`,
    values: [...values, SCAN_ROWS, ...bound, limit + 1],
  }
}

function looked({ scheduleId }: NonRunFilter, after: NonRunPlace | undefined): Question {
  const conditions = [
    ...(scheduleId === undefined ? [] : ['schedule_id = ?']),
    ...(after === undefined ? [] : ['(to_at, schedule_id) < (?, ?)']),
  ]
  const values = [...(scheduleId === undefined ? [] : [scheduleId]), ...(after ? [after.toAt, after.scheduleId] : [])]
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
  return { text: `from everytick_non_runs ${where} order by to_at desc, schedule_id desc`, values }
}
