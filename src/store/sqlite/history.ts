/** Reads for people from SQLite: runs live and finished in one order, and the journal; what became of occurrences is `ledger.ts`. */
import type { Json } from '../../json.ts'
import type { RunState } from '../../run/state.ts'
import type { HistoryStore, JournalEntry, RunFilter, RunPage } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { ledger } from './ledger.ts'
import { FINISHED_RUN, LIVE_RUN, type RunRow, runOf } from './run-rows.ts'

// One statement, so that a run on its way between the tables is never missed.
const RUN = `
  select ${LIVE_RUN} from everytick_runs where id = ?
  union all select ${FINISHED_RUN} from everytick_history where id = ?`
const JOURNAL = `select at, kind, run_id, schedule_id, data from everytick_journal`

interface JournalRow {
  readonly at: number
  readonly kind: JournalEntry['kind']
  readonly run_id: string | null
  readonly schedule_id: string | null
  readonly data: string
}

export function historyStore(connection: Connection): HistoryStore {
  return {
    async run(id) {
      const [row] = await connection.read(() => connection.all<RunRow>(RUN, id, id))
      return row === undefined ? null : runOf(row)
    },
    async runs(filter, page) {
      const { text, values } = pageOf(filter, page)
      const rows = await connection.read(() => connection.all<RunRow>(text, ...values))
      return rows.map(runOf)
    },
    async journal(of) {
      const [column, id] = 'runId' in of ? ['run_id', of.runId] : ['schedule_id', of.scheduleId]
      const text = `${JOURNAL} where ${column} = ? order by id`
      const rows = await connection.read(() => connection.all<JournalRow>(text, id as string))
      return rows.map(({ at, kind, run_id, schedule_id, data }) => {
        return { at, kind, runId: run_id, scheduleId: schedule_id, data: JSON.parse(data) as Json }
      })
    },
    ...ledger(connection),
  }
}

/** Each table gives the places of its own first page; the page of both is among them, and only its rows are read whole. */
export function pageOf(filter: RunFilter, page: RunPage): { text: string; values: Value[] } {
  const { texts, values } = conditionsOf(filter, page)
  const places = (table: string, extra: readonly string[]): string => {
    const where = [...texts, ...extra]
    return `select '${table}' as place, at, created_at, id from (
      select rowid as at, created_at, id from ${table} ${where.length > 0 ? `where ${where.join(' and ')}` : ''}
      order by created_at desc, id desc limit ?)`
  }
  const isWanted = (states: readonly RunState[]): boolean =>
    filter.states === undefined || filter.states.some((state) => states.includes(state))
  const live = isWanted(['pending', 'running']) ? [] : ['false']
  // Failures are asked for in their index's own words, so that they are found without passing over all that went well.
  const finished = isWanted(['succeeded'])
    ? []
    : isWanted(['failed', 'cancelled'])
      ? ["state <> 'succeeded'"]
      : ['false']
  const text = `
    select case place
      when 'everytick_runs' then (select ${LIVE_RUN} from everytick_runs where rowid = at)
      else (select ${FINISHED_RUN} from everytick_history where rowid = at) end as run
    from (
      ${places('everytick_runs', live)}
      union all ${places('everytick_history', finished)}
      order by created_at desc, id desc limit ?)
    order by created_at desc, id desc`
  return { text, values: [...values, page.limit, ...values, page.limit, page.limit] }
}

function conditionsOf(filter: RunFilter, { after }: RunPage): { texts: string[]; values: Value[] } {
  const { workspace, scheduleId, job, queue, states } = filter
  const texts: string[] = []
  const values: Value[] = []
  const add = (text: string, ...bound: Value[]): void => {
    texts.push(text)
    values.push(...bound)
  }
  if (workspace !== undefined) add('workspace = ?', workspace)
  if (scheduleId !== undefined) add('schedule_id = ?', scheduleId)
  if (job !== undefined) add('job = ?', job)
  if (queue !== undefined) add('queue = ?', queue)
  // The unary plus keeps SQLite from choosing the index of due runs, which is no help in this order.
  if (states !== undefined) add(`+state in (${states.map(() => '?').join(', ')})`, ...states)
  if (after !== undefined) add('(created_at, id) < (?, ?)', after.createdAt, after.id)
  return { texts, values }
}
