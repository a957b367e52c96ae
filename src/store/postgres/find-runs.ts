/** Finds runs for people, live and finished together, in Postgres: by the narrowest index there is, and by a look at so many rows where there is none. */
import type { RunState } from '../../run/state.ts'
import type { HistoryStore, RunContent, RunFilter, RunPage } from '../contract/history.ts'
import { fullPage } from '../full-page.ts'
import type { Connection } from './connection.ts'
import { finishedFields, instantAt, isId, liveFields, msOf, type RunRow, runOf } from './rows.ts'
import { type Statement, texts, unprepared, type Value } from './statement.ts'
import { unbounded, withinBytes } from './within-bytes.ts'

/** Rows of each part that one call looks at, where no index has only what is asked for. */
export const SCAN_ROWS = 10_000

const LIVE: readonly RunState[] = ['pending', 'running']

export function createFindRuns(connection: Connection, schema: string): Pick<HistoryStore, 'find' | 'runs'> {
  const { ask } = connection.api
  const find: HistoryStore['find'] = async (filter, page) => {
    if (filter.scheduleId !== undefined && !isId(filter.scheduleId)) return { runs: [], next: null }
    const search = searchOf(schema, filter, page.omit)
    // The edge comes first: whatever is added meanwhile, all that lies before it is looked at.
    const edges = edgeQuestion(search, page)
    const [edge] = edges ? await ask<{ id: string }>(...edges) : []
    const { rows, isCut } = unbounded(await ask<RunRow>(...pageQuestion(search, page, edge)))
    const runs = rows.slice(0, page.limit).map(runOf)
    const last = runs.at(-1)
    if (last && (isCut || rows.length > page.limit)) return { runs, next: { id: last.id } }
    return { runs, next: edge ? { id: edge.id } : null }
  }
  return { find, runs: (filter, page) => fullPage(find, filter, page) }
}

/** SQL about a run `t` that binds its values where it is put. */
type Condition = (bind: Bind) => string
type Bind = (value: Value, type: string) => string

/** Runs that are walked in one order. */
interface Part {
  readonly table: string
  readonly fields: string
  /** In the words of its index. */
  readonly within: readonly Condition[]
  /** `slot`: by the nominal instant, with which the ids of all that have one begin. */
  readonly order: 'id' | 'slot'
  /** Whether all of it may be looked at. */
  readonly isShort: boolean
}

export interface Search {
  readonly parts: readonly Part[]
  /** What each run is looked at for. */
  readonly left: readonly Condition[]
}

export function searchOf(schema: string, filter: RunFilter, omit: readonly RunContent[] = []): Search {
  const { workspace, scheduleId, job, queue, states } = filter
  const left: Condition[] = []
  if (workspace !== undefined) left.push((bind) => `t.workspace = ${bind(workspace, 'text')}`)
  if (job !== undefined) left.push((bind) => `t.job = ${bind(job, 'text')}`)
  if (queue !== undefined) left.push((bind) => `t.queue = ${bind(queue, 'text')}`)
  if (states !== undefined) left.push((bind) => `t.state = any(${bind(texts(states), 'text')}::text[])`)
  const isWanted = (live: boolean): boolean => !states || states.some((state) => LIVE.includes(state) === live)
  const ofSchedule: Condition[] =
    scheduleId === undefined ? [] : [(bind) => `t.schedule_id = ${bind(scheduleId, 'uuid')}`]
  const parts: Part[] = []
  const live = { table: `${schema}.runs`, fields: liveFields('t', omit), order: 'id' } as const
  // Live runs have no index by schedule that has all of them.
  if (isWanted(true)) parts.push({ ...live, within: [], isShort: false })
  if (isWanted(false)) parts.push(...finishedParts(schema, { ofSchedule, states, omit }))
  return { parts, left: isWanted(true) ? [...ofSchedule, ...left] : left }
}

interface Finished {
  readonly ofSchedule: readonly Condition[]
  readonly states: readonly RunState[] | undefined
  readonly omit: readonly RunContent[]
}

function finishedParts(schema: string, { ofSchedule, states, omit }: Finished): Part[] {
  const part = { table: `${schema}.history`, fields: finishedFields('t', omit), order: 'id', isShort: false } as const
  if (ofSchedule.length > 0) {
    const within = (slot: string): Condition[] => [...ofSchedule, () => `t.scheduled_at ${slot}`]
    // What was made by hand has no nominal instant; ids of instants before 1970 are greater than all others. Of both there are few.
    return [
      { ...part, within: within(`>= 'epoch'`), order: 'slot' },
      { ...part, within: within(`< 'epoch'`), isShort: true },
      { ...part, within: within('is null'), isShort: true },
    ]
  }
  // In the words of the index of those that did not succeed, so that all that went well is passed over.
  const within = states && !states.includes('succeeded') ? [() => `t.state <> 'succeeded'`] : []
  return [{ ...part, within }]
}

/** An id up to which every part can be looked at in one go: about so many rows on, any will do. Null where nothing is looked for. */
export function edgeQuestion({ parts, left }: Search, { after }: RunPage): readonly [Statement, Value[]] | null {
  const long = parts.filter(({ isShort }) => !isShort)
  if (left.length === 0 || long.length === 0) return null
  const { values, bind } = binder()
  const edges = long.map((part) => `(${edgeOf(part, after, bind)})`)
  return [unprepared(`select id from (${edges.join('\nunion all\n')}) edges order by id desc limit 1`), values]
}

/** Each from its index alone. */
function edgeOf(part: Part, after: RunPage['after'], bind: Bind): string {
  const end = `offset ${SCAN_ROWS - 1} limit 1`
  if (part.order === 'id')
    return `select t.id from ${part.table} t ${where(boundsOf(part, { after }, bind))} order by t.id desc ${end}`
  const before = after ? [`t.scheduled_at < ${instantAt(bind(instantOf(after.id), 'float8'))}`] : []
  const conditions = [...part.within.map((condition) => condition(bind)), ...before]
  return `
  select ${leastId('e.at')} as id from (
    select t.scheduled_at as at from ${part.table} t ${where(conditions)} order by t.scheduled_at desc ${end}
  ) e`
}

/** One statement, so that a run that moves meanwhile is seen once. One more than the page, if there is one. */
export function pageQuestion(
  { parts, left }: Search,
  { limit, after, maxBytes }: RunPage,
  edge: { readonly id: string } | undefined,
): readonly [Statement, Value[]] {
  const { values, bind } = binder()
  const most = bind(limit + 1, 'int')
  const pages = parts.map((part) => {
    const conditions = [...boundsOf(part, { after, edge }, bind), ...left.map((condition) => condition(bind))]
    // Behind a fence where there are few: else the server might walk all of history in search of them.
    const from = part.isShort ? `(select * from ${part.table} t ${where(conditions)} offset 0) t` : `${part.table} t`
    return `(
  select ${part.fields} from ${from} ${part.isShort ? '' : where(conditions)}
  ${orderOf(part)} limit ${most}
)`
  })
  const order = pages.length > 1 ? `\norder by id desc limit ${most}` : ''
  const page = pages.join('\nunion all\n') + order
  if (maxBytes === undefined) return [unprepared(page), values]
  const bound = { order: 'q.id desc', columns: LARGE, maxBytes: bind(maxBytes, 'bigint') }
  return [unprepared(withinBytes(page, bound)), values]
}

/** Columns of a run that may be large. */
const LARGE = ['payload', 'result', 'error', 'progress', 'policy'] as const

interface Bounds {
  readonly after?: { readonly id: string } | undefined
  readonly edge?: { readonly id: string } | undefined
}

function boundsOf({ within, order }: Part, { after, edge }: Bounds, bind: Bind): string[] {
  const bounds = [
    ...(after ? ([['<', after.id]] as const) : []), // below the page before
    ...(edge ? ([['>=', edge.id]] as const) : []),
  ]
  return [
    ...within.map((condition) => condition(bind)),
    ...bounds.map(([than, id]) => `t.id ${than} ${bind(id, 'uuid')}`),
    // The same in the words of the other index, which has the instants only.
    ...(order === 'slot'
      ? bounds.map(([than, id]) => `t.scheduled_at ${than[0]}= ${instantAt(bind(instantOf(id), 'float8'))}`)
      : []),
  ]
}

const orderOf = ({ order }: Part): string =>
  order === 'id' ? 'order by t.id desc' : 'order by t.scheduled_at desc, t.id desc'

/** With which an id begins. */
const instantOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

/** SQL for the least id that begins with an instant. */
const leastId = (at: string): string => `(lpad(to_hex((${msOf(at)})::bigint), 12, '0') || repeat('0', 20))::uuid`

function binder(): { values: Value[]; bind: Bind } {
  const values: Value[] = []
  return { values, bind: (value, type) => `$${values.push(value)}::${type}` }
}

const where = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
