/** Finds schedules for people, in SQLite: by the narrowest index there is, and by short looks where there is none; what may be asked for is the contract's. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Schedule } from '../../schedule/schedule.ts'
import type { Clock } from '../../time/clock.ts'
import type { ScheduleFilter, ScheduleStore } from '../contract/schedules.ts'
import { countWithin } from '../page-bytes.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { SCHEDULE, SCHEDULE_WITHOUT_PAYLOAD, type ScheduleRow, scheduleOf, scheduleSize } from './rows.ts'

/** Rows that are looked at in one go, a few milliseconds of work, and how many looks one call takes. */
export const SCAN_ROWS = 1000
const SCANS = 10
/** So many overdue schedules are found by their cursors; where there are more, any look meets some. */
export const FEW_OVERDUE = 1000

export const BY_ID = `
  select ${SCHEDULE} from everytick_schedules s join everytick_cursors c on c.schedule_id = s.id where s.id = ?`
const BY_ID_WITHOUT_PAYLOAD = BY_ID.replace(SCHEDULE, SCHEDULE_WITHOUT_PAYLOAD)
export const OVERDUE = `
  select count(*) as many from (select 1 from everytick_cursors where next_at <= ? limit ${FEW_OVERDUE + 1})`

interface Place {
  readonly workspace: string
  readonly key: string
}

export function find(connection: Connection, clock: Clock): Pick<ScheduleStore, 'byId' | 'find'> {
  const areFewOverdue = (before: number): boolean =>
    connection.all<{ many: number }>(OVERDUE, before)[0]!.many <= FEW_OVERDUE

  /** One look: what it found, and where it ended unless that was the end of all. */
  function look(filter: ScheduleFilter, page: Omit<Stretch, 'upTo'>) {
    const before = filter.overdueMs === undefined ? null : clock.now() - filter.overdueMs
    const walk = walkOf(filter, { before, few: before !== null && areFewOverdue(before) })
    const edge = edgeOf(walk, page.after)
    const [last] = edge === null ? [] : connection.all<Place>(edge.text, ...edge.values)
    const { text, values } = pageOf(walk, { ...page, upTo: last })
    return { found: connection.all<Sized>(text, ...values), last }
  }

  return {
    async byId(id) {
      const [row] = await connection.read(() => connection.all<ScheduleRow>(BY_ID, id))
      return row === undefined ? null : scheduleOf(row)
    },
    async find(filter, { limit, after, maxBytes = Number.POSITIVE_INFINITY, omitPayload = false }) {
      const places: Sized[] = []
      const end = async (count: number, next: Place | null) => {
        const text = omitPayload ? BY_ID_WITHOUT_PAYLOAD : BY_ID
        const read = ({ id }: Sized): Schedule[] => connection.all<ScheduleRow>(text, id).map(scheduleOf)
        const schedules = await connection.read(() => places.slice(0, count).flatMap(read))
        return { schedules, next: next && placeOf(next) }
      }
      let from = after
      for (let looks = 1; ; looks += 1) {
        const page = { limit: limit + 1 - places.length, after: from, omitPayload }
        const { found, last } = await connection.read(() => look(filter, page))
        places.push(...found)
        const sizes = places.slice(0, limit).map(({ size }) => size)
        const count = countWithin(sizes, maxBytes)
        if (places.length > count) return end(count, places[count - 1]!)
        if (last === undefined) return end(count, null)
        if (looks === SCANS) return end(count, last)
        from = placeOf(last)
        await turn()
      }
    },
  }
}

const placeOf = ({ workspace, key }: Place): Place => ({ workspace, key })

/** A schedule that was found, and how large what is read of it is. */
interface Sized extends Place {
  readonly id: string
  readonly size: number
}

interface Condition {
  readonly text: string
  readonly values: readonly Value[]
}

/** Rows in the order of (workspace, key), and what must hold of them. */
interface Walk {
  readonly table: 'everytick_schedules' | 'everytick_tags' | 'everytick_cursors'
  /** What the rows are called that have the order: tags `t` or schedules `s`. */
  readonly as: 't' | 's'
  /** Names an index, where SQLite might take one without the order for as good. */
  readonly by: '' | 'indexed by everytick_schedules_code'
  /** In the words of its index. */
  readonly within: readonly Condition[]
  /** What each schedule `s` with its cursor `c` is looked at for. */
  readonly left: readonly Condition[]
}

/** `before` is when a cursor is overdue, if that is asked for; `few` whether these cursors are where to begin. */
export function walkOf(filter: ScheduleFilter, { before, few }: { before: number | null; few: boolean }): Walk {
  const { workspace, job, tag, source, paused, quarantined, text } = filter
  const within: Condition[] = []
  const left: Condition[] = []
  const holds = (list: Condition[], text: string, ...values: Value[]): void => void list.push({ text, values })
  const table = few ? 'everytick_cursors' : tag === undefined ? 'everytick_schedules' : 'everytick_tags'
  const as = table === 'everytick_tags' ? 't' : 's'
  let isChosen = table !== 'everytick_schedules'
  /** The first that has an index is walked by it; the others are looked at. */
  const narrow = (condition: string): void => {
    holds(isChosen ? left : within, `s.${condition}`)
    isChosen = true
  }
  if (workspace !== undefined) holds(within, `${as}.workspace = ?`, workspace)
  if (tag !== undefined && !few) holds(within, 't.tag = ?', tag)
  if (tag !== undefined && few) holds(left, 'exists (select 1 from json_each(s.tags) where value = ?)', tag)
  if (quarantined) narrow('quarantine is not null')
  if (paused) narrow('pause is not null')
  const by = source === 'code' && !isChosen ? 'indexed by everytick_schedules_code' : ''
  if (source === 'code') narrow(`source <> 'api'`)
  if (quarantined === false) holds(left, 's.quarantine is null')
  if (paused === false) holds(left, 's.pause is null')
  if (source === 'api') holds(left, `s.source = 'api'`)
  if (job !== undefined) holds(left, 's.job = ?', job)
  if (text !== undefined) holds(left, 'instr(lower(s.key), lower(?)) > 0', text)
  if (before !== null) holds(left, 'c.next_at <= ?', before)
  return { table, as, by, within, left }
}

interface Question {
  readonly text: string
  readonly values: readonly Value[]
}

/** Asks for the last place that one look may see; null where all that there is may be seen. */
export function edgeOf({ table, as, by, within, left }: Walk, after: Place | undefined): Question | null {
  if (table === 'everytick_cursors' || left.length === 0) return null
  const all = [...within, ...placed('>', as, after)]
  const text = `select ${as}.workspace, ${as}.key from ${table} ${as} ${by} ${where(all)}
    order by ${as}.workspace, ${as}.key limit 1 offset ${SCAN_ROWS - 1}`
  return { text, values: all.flatMap(({ values }) => values) }
}

/** Crossed, which keeps SQLite to this order of the tables. */
const FROM = {
  everytick_cursors: 'everytick_cursors c cross join everytick_schedules s on s.id = c.schedule_id',
  everytick_schedules: 'everytick_schedules s <by> cross join everytick_cursors c on c.schedule_id = s.id',
  everytick_tags: `everytick_tags t cross join everytick_schedules s on s.workspace = t.workspace and s.key = t.key
    cross join everytick_cursors c on c.schedule_id = s.id`,
} as const

interface Stretch {
  readonly limit: number
  readonly after: Place | undefined
  readonly upTo: Place | undefined
  readonly omitPayload?: boolean
}

export function pageOf(
  { table, as, by, within, left }: Walk,
  { limit, after, upTo, omitPayload = false }: Stretch,
): Question {
  const all = [...within, ...placed('>', as, after), ...placed('<=', as, upTo), ...left]
  const text = `select s.id, s.workspace, s.key, ${scheduleSize(omitPayload)} as size from ${FROM[table].replace('<by>', by)}
    ${where(all)} order by ${as}.workspace, ${as}.key limit ?`
  return { text, values: [...all.flatMap(({ values }) => values), limit] }
}

const placed = (how: '>' | '<=', as: string, place: Place | undefined): Condition[] =>
  place ? [{ text: `(${as}.workspace, ${as}.key) ${how} (?, ?)`, values: [place.workspace, place.key] }] : []

const where = (conditions: readonly Condition[]): string =>
  conditions.length > 0 ? `where ${conditions.map(({ text }) => text).join(' and ')}` : ''
