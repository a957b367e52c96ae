/** Which schedules are due, page by page: the nearest first, but of a backlog those whose rows stand together; how plans are written is `record.ts`. */
import { setImmediate as afterIo } from 'node:timers'
import type { Clock } from '../../time/clock.ts'
import type { DuePage, PlanningStore } from '../contract/planning.ts'
import type { Connection } from './connection.ts'
import { DUE_SCHEDULE, duesOf } from './rows.ts'

export const DUE = `
  select json_group_array(${DUE_SCHEDULE}) as schedules, count(*) as count
  from (select * from everytick_cursors where next_at <= ? order by next_at limit ?) c
  cross join everytick_schedules s on s.id = c.schedule_id`
export const DUE_OF = `
  select json_group_array(${DUE_SCHEDULE}) as schedules, count(*) as count
  from json_each(?) j cross join everytick_cursors c on c.schedule_id = j.value and c.next_at <= ?
  cross join everytick_schedules s on s.id = c.schedule_id`
export const BACKLOG = `
  select json_group_array(schedule_id) as ids from (
    select schedule_id from (
      select schedule_id from everytick_cursors where next_at <= ? order by next_at, schedule_id limit ? offset ?)
    order by schedule_id)`
export const NEXT_CURSOR = `select min(next_at) as next_at from everytick_cursors where next_at > ?`

/** Pages that a backlog is made up of: the more, the closer its neighbours. Few seconds of planning; what becomes urgent meanwhile comes first. */
const BACKLOG_PAGES = 64
/** So many are looked out at once, in a few milliseconds that nothing can interrupt. */
const SLICE_PAGES = 8
/** What is due so soon does not wait for its place in a backlog. */
const URGENT_MS = 2000
/** A page so long is worth a turn of the event loop between reading it and making schedules of it. */
const LONG_PAGE = 300

const NOBODY: readonly string[] = []
/** Before every instant. */
const EVER = Number.MIN_SAFE_INTEGER

interface Found {
  readonly schedules: string
  readonly count: number
}

/**
 * A plan writes to its cursor's row and to indexes by schedule. In the order of their instants, a thousand of many
 * schedules touch a page each, three times over; in the order of their ids, neighbours share one.
 */
export function dueOn(connection: Connection, clock: Clock): PlanningStore['due'] {
  /** Ids of a backlog that no page had yet, in order. Whether they are due still is asked again. */
  let crowd: string[] = []
  let wasFull = false

  const next = (after: number): number | null =>
    connection.all<{ next_at: number | null }>(NEXT_CURSOR, after)[0]?.next_at ?? null

  const slice = (until: number, { limit, offset }: { limit: number; offset: number }): string[] =>
    JSON.parse(connection.all<{ ids: string }>(BACKLOG, until, limit, offset)[0]?.ids ?? '[]') as string[]

  /** Looks out a backlog when there is none, and time for one. */
  async function findDue(until: number, limit: number): Promise<void> {
    const [most, atOnce] = [limit * BACKLOG_PAGES, limit * SLICE_PAGES]
    for (let found = atOnce, offset = 0; found === atOnce && offset < most; offset += atOnce) {
      const ids = await connection.read(() => slice(until, { limit: atOnce, offset }))
      found = ids.length
      await new Promise((resolve) => afterIo(resolve))
      crowd = offset === 0 ? ids : merged(crowd, ids)
    }
  }

  /** A whole page of the backlog; undefined when there is none. */
  function fromBacklog(until: number, limit: number): Found | undefined {
    const [found] = connection.all<Found>(DUE_OF, JSON.stringify(crowd.splice(0, limit)), until)
    if (found?.count === limit) return found
    crowd = []
    return undefined
  }

  const isUrgent = (firstAt: number | null): boolean => firstAt !== null && firstAt <= clock.now() + URGENT_MS

  function look(until: number, limit: number): Found | undefined {
    const firstAt = next(EVER)
    // Most of the time nothing is, and this one question is all.
    if (firstAt === null || firstAt > until) return undefined
    const patient = wasFull && crowd.length >= limit && !isUrgent(firstAt)
    return (patient ? fromBacklog(until, limit) : undefined) ?? connection.all<Found>(DUE, until, limit)[0]
  }

  return async ({ lookaheadMs, limit, except = NOBODY }): Promise<DuePage> => {
    const wanted = limit + except.length
    if (wasFull && crowd.length < wanted && !isUrgent(await connection.read(() => next(EVER)))) {
      await findDue(clock.now() + lookaheadMs, wanted)
    }
    const { now, found, nextAt } = await connection.read(() => {
      const now = clock.now()
      const until = now + lookaheadMs
      const found = look(until, wanted)
      wasFull = found?.count === wanted
      return { now, found, nextAt: wasFull ? null : next(until) }
    })
    if (found === undefined) return { now, schedules: [], nextAt }
    if (found.count >= LONG_PAGE) await new Promise((resolve) => afterIo(resolve))
    const passed = new Set(except)
    const schedules = duesOf(found.schedules).filter(({ id }) => !passed.has(id))
    return { now, schedules: schedules.slice(0, limit).sort((a, b) => a.nextAt - b.nextAt), nextAt }
  }
}

/** Two lists in order as one; who is in both, since somebody came in between, is in it once. */
function merged(a: readonly string[], b: readonly string[]): string[] {
  const all: string[] = []
  let [i, k] = [0, 0]
  while (i < a.length && k < b.length) {
    if (a[i]! === b[k]!) k += 1
    else all.push(a[i]! < b[k]! ? a[i++]! : b[k++]!)
  }
  return all.concat(a.slice(i), b.slice(k))
}
