/** Reads for people from SQLite: runs live and finished in one order, and the journal; what became of occurrences is `ledger.ts`. */
import type { Json } from '../../json.ts'
import type { RunState } from '../../run/state.ts'
import { type HistoryStore, type JournalEntry, MAX_KINDS, type RunFilter, type RunPage } from '../contract/history.ts'
import { fullPage } from '../full-page.ts'
import { countWithin } from '../page-bytes.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { createFindNonRuns } from './find-non-runs.ts'
import { lastFired, latest } from './latest.ts'
import { ledger } from './ledger.ts'
import { FINISHED_RUN, LIVE_RUN, type RunRow, runAt, runOf, runSize } from './run-rows.ts'

// One statement, so that a run on its way between the tables is never missed.
export const RUN = `
  select ${LIVE_RUN} from everytick_runs where id = ?
  union all select ${FINISHED_RUN} from everytick_history where id = ?
  limit 1`
export const STATES = `
  select id, state from everytick_runs where id in (select value from json_each(?))
  union all select id, state from everytick_history where id in (select value from json_each(?))`
const JOURNAL = `select id, at, kind, run_id, schedule_id, data from everytick_journal`

const JOURNAL_KINDS = `
  select at, kind from (
    select id, at, kind from everytick_journal where run_id = ? order by id desc limit ${MAX_KINDS}
  ) order by id`
/** Of a text SQLite knows its length without reading it. */
const JOURNAL_SIZES = `
  select octet_length(data) as size from everytick_journal where run_id = ? and id > ? order by id limit ?`

interface JournalRow {
  readonly id: number
  readonly at: number
  readonly kind: JournalEntry['kind']
  readonly run_id: string | null
  readonly schedule_id: string | null
  readonly data: string
}

/** Rows of each table that one call looks at, where no index has only what is asked for: a few milliseconds of work. */
export const SCAN_ROWS = 5000

export function historyStore(connection: Connection): HistoryStore {
  const find: HistoryStore['find'] = async (filter, page) => {
    return connection.read(() => {
      // The edge comes first: whatever is added meanwhile, all that lies before it is looked at.
      const edges = edgeOf(filter, page)
      const [edge] = edges ? connection.all<{ id: string }>(edges.text, ...edges.values) : []
      const { text, values } = pageOf(filter, { ...page, limit: page.limit + 1 }, edge)
      const places = connection.all<RunPlace>(text, ...values)
      const sizes = places.slice(0, page.limit).map(({ size }) => size)
      const shown = places.slice(0, page.maxBytes === undefined ? page.limit : countWithin(sizes, page.maxBytes))
      const runs = shown.flatMap(({ place, at }) => connection.all<RunRow>(runAt(place, page.omit), at).map(runOf))
      const last = shown.at(-1)
      if (last && places.length > shown.length) return { runs, next: { id: last.id } }
      return { runs, next: edge ? { id: edge.id } : null }
    })
  }
  return {
    async run(id) {
      const [row] = await connection.read(() => connection.all<RunRow>(RUN, id, id))
      return row === undefined ? null : runOf(row)
    },
    async states(ids) {
      const text = JSON.stringify(ids)
      const rows = await connection.read(() => connection.all<{ id: string; state: RunState }>(STATES, text, text))
      return new Map(rows.map(({ id, state }) => [id, state]))
    },
    find,
    runs: (filter, page) => fullPage(find, filter, page),
    async journal(of) {
      const [column, id] = 'runId' in of ? ['run_id', of.runId] : ['schedule_id', of.scheduleId]
      const text = `${JOURNAL} where ${column} = ? order by id`
      const rows = await connection.read(() => connection.all<JournalRow>(text, id as string))
      return rows.map(entryOf)
    },
    journalKinds: (runId) =>
      connection.read(() => connection.all<Pick<JournalEntry, 'at' | 'kind'>>(JOURNAL_KINDS, runId)),
    journalPage: (runId, { limit, after = 0, maxBytes }) =>
      connection.read(() => {
        const sizes = connection.all<{ size: number }>(JOURNAL_SIZES, runId, after, limit + 1)
        const count = countWithin(
          sizes.slice(0, limit).map(({ size }) => size),
          maxBytes,
        )
        const text = `${JOURNAL} where run_id = ? and id > ? order by id limit ?`
        const rows = connection.all<JournalRow>(text, runId, after, count)
        return { entries: rows.map(entryOf), next: sizes.length > count ? rows.at(-1)!.id : null }
      }),
    latest: (scheduleIds, each) => latest(connection, scheduleIds, each),
    lastFired: (scheduleIds, untilAt) => lastFired(connection, scheduleIds, untilAt),
    ...ledger(connection),
    ...createFindNonRuns(connection),
  }
}

const entryOf = ({ at, kind, run_id: runId, schedule_id: scheduleId, data }: JournalRow): JournalEntry => ({
  ...{ at, kind, runId, scheduleId },
  data: JSON.parse(data) as Json,
})

interface RunPlace {
  readonly place: 'everytick_runs' | 'everytick_history'
  readonly at: number
  readonly id: string
  /** Of what is read of it, in bytes. */
  readonly size: number
}

/** Each table gives the places of its own first page; the page of both is among them. Its runs are read one by one, as many as fit. */
export function pageOf(filter: RunFilter, page: RunPage, edge?: { readonly id: string }): Question {
  const { texts, values } = conditionsOf(filter, { ...page, edge })
  const { omit } = page
  const sized = page.maxBytes !== undefined
  const places = (table: RunPlace['place'], extra: readonly string[]): string =>
    `select '${table}' as place, at, id from (
      select rowid as at, id from ${table} ${where([...texts, ...extra])}
      order by id desc limit ?)`
  const { live, finished } = whereabouts(filter)
  const text = `
    select place, at, id, ${
      sized
        ? `case place
      when 'everytick_runs' then (select ${runSize('everytick_runs', omit)} from everytick_runs where rowid = at)
      else (select ${runSize('everytick_history', omit)} from everytick_history where rowid = at) end`
        : '0'
    } as size
    from (
      ${places('everytick_runs', live)}
      union all ${places('everytick_history', finished)}
      order by id desc limit ?)
    order by id desc`
  return { text, values: [...values, page.limit, ...values, page.limit, page.limit] }
}

/** The id up to which both tables can be looked at in one go; null when no run has to be looked at for more than its place. */
export function edgeOf(filter: RunFilter, { after }: RunPage): Question | null {
  if (Object.values(filter).every((value) => value === undefined)) return null
  const { scheduleId } = filter
  // Of a schedule, history has an index; what is live is looked through.
  const walked = conditionsOf(scheduleId === undefined ? {} : { scheduleId }, { after })
  const { texts, values } = conditionsOf({}, { after })
  const { live, finished } = whereabouts(filter)
  const text = `
    select id from (
      select * from (select id from everytick_runs ${where([...texts, ...live])} order by id desc limit 1 offset ?)
      union all
      select * from (select id from everytick_history ${where([...walked.texts, ...finished])} order by id desc limit 1 offset ?))
    order by id desc limit 1`
  return { text, values: [...values, SCAN_ROWS - 1, ...walked.values, SCAN_ROWS - 1] }
}

interface Question {
  readonly text: string
  readonly values: Value[]
}

/** In which table runs in these states can stand, as conditions on each. */
function whereabouts({ states }: RunFilter): { live: readonly string[]; finished: readonly string[] } {
  const isWanted = (some: readonly RunState[]): boolean =>
    states === undefined || states.some((state) => some.includes(state))
  return {
    live: isWanted(['pending', 'running']) ? [] : ['false'],
    // Failures are asked for in their index's own words, so that they are found without passing over all that went well.
    finished: isWanted(['succeeded'])
      ? []
      : isWanted(['failed', 'cancelled', 'skipped', 'missed'])
        ? ["state <> 'succeeded'"]
        : ['false'],
  }
}

const where = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''

interface Bounds {
  readonly after?: { readonly id: string } | undefined
  readonly edge?: { readonly id: string } | undefined
}

function conditionsOf(filter: RunFilter, { after, edge }: Bounds): { texts: string[]; values: Value[] } {
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
  if (after !== undefined) add('id < ?', after.id)
  if (edge !== undefined) add('id >= ?', edge.id)
  return { texts, values }
}
