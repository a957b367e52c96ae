/** Which schedules are due, page by page: the nearest first, but of a backlog those whose rows stand together; how plans are written is `record.ts`. */
import { pauseDetail } from '../../plan/non-run.ts'
import type { DueSchedule } from '../../plan/plan.ts'
import { isSameShard, type Shard } from '../../plan/shard.ts'
import type { CatchUpPolicy, FiringPolicy, Pause, TimingSpec } from '../../schedule/schedule.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { type DuePage, LONGEST_PAGE, type PlanningStore } from '../contract/planning.ts'
import { interned } from '../interned.ts'
import { uuids } from './bytes.ts'
import type { Connection } from './connection.ts'
import { createRowAddresses, type RowAddresses } from './row-addresses.ts'
import { instantAt, msOf, spanOf } from './rows.ts'
import { createScanBackoff, entriesRead } from './scan-backoff.ts'
import { prepared, type Statement } from './statement.ts'

/** Before each schedule, and also when none is to follow: the clock; the first cursor beyond the horizon, or of all for a page of a backlog; and how many entries of the index were read to find them. */
type DueRow = readonly [
  now: number,
  cursor: number | null,
  read: number,
  id: string | null,
  workspace: string,
  key: string,
  revision: number,
  timing: string,
  catchUp: string,
  firing: string,
  nextAt: number,
  watermarkAt: number,
  runCount: number,
  pause: Pause | null,
  address: string,
]

export interface DueOptions {
  /** Told where each schedule is that was found. */
  readonly addresses?: RowAddresses
  readonly clock?: Pick<Clock, 'elapsed'>
}

/** Pages that a backlog is made up of: the more, the closer its neighbours. Few seconds of planning; what becomes urgent meanwhile comes first. */
const BACKLOG_PAGES = 64
/** What is due so soon does not wait for its place in a backlog. */
const URGENT_MS = 2000

/**
 * A plan reads a schedule and writes its cursor and indexes by schedule. In the order of their instants, a thousand of many
 * schedules touch a page each, several times over, and none of those is in the processor's caches; in the order of their ids,
 * neighbours share one.
 */
export function dueOn(
  connection: Connection,
  schema: string,
  { addresses = createRowAddresses(), clock = systemClock }: DueOptions = {},
): PlanningStore['due'] {
  const dueOf = (row: DueRow): DueSchedule => {
    addresses.note(row[3]!, row[14])
    return scheduleOf(row)
  }
  const [near, nearExcept] = [dueStatement(schema), dueStatement(schema, EXCEPT)]
  const [backlogOf, pageOf] = [backlogStatement(schema), pageStatement(schema)]
  const [nearInShard, backlogInShard] = [dueInShardStatement(schema), backlogInShardStatement(schema)]
  /** What the last scan was for: where it may start and what it found are true of that shard only. */
  let shard: Shard | null = null
  /** Set while there is more behind the last page, and none of that page was urgent. Others who look, with other limits, leave it alone. */
  let ahead: Ahead | null = null
  const rest = createScanBackoff(clock)
  /** No cursor was found below it. One that somebody put there since is found by the next look from the beginning. */
  let floorAt: number | null = null
  const floor = (): number | null => (rest.leftMs() > 0 ? floorAt : null)

  /** A whole page of the backlog; undefined when there is none, or something urgent came in between. */
  async function fromBacklog(
    { lookaheadMs, limit, pages }: Ahead,
    except: readonly string[],
  ): Promise<DuePage | undefined> {
    if (pages.length === 0) {
      const values = [lookaheadMs, floor(), limit, uuids(except)]
      const found = await (shard === null
        ? connection.hot.ask<{ places: string }>(backlogOf, values)
        : connection.hot.ask<{ places: string }>(backlogInShard, [...values, shard.count, shard.index]))
      pages.push(...found.map(({ places }) => places))
    }
    const places = pages.shift()
    if (places === undefined) return undefined
    const rows = await connection.hot.ask<DueRow>(pageOf, [lookaheadMs, floor(), places])
    const [now, firstAt, , id] = rows[0]!
    if (id === null || rows.length !== limit || firstAt === null || firstAt <= now + URGENT_MS) return undefined
    return { now, schedules: rows.map(dueOf), nextAt: null }
  }

  const askNearest = (values: readonly (number | null)[], except: readonly string[]): Promise<DueRow[]> => {
    if (shard !== null)
      return connection.hot.ask<DueRow>(nearInShard, [...values, uuids(except), shard.count, shard.index])
    return except.length === 0
      ? connection.hot.ask<DueRow>(near, values)
      : connection.hot.ask<DueRow>(nearExcept, [...values, uuids(except)])
  }

  async function nearest(lookaheadMs: number, limit: number, except: readonly string[]): Promise<DuePage> {
    const from = floor()
    const rows = await askNearest([lookaheadMs, from, limit], except)
    const [now, beyond, read, id] = rows[0]!
    const schedules = id === null ? [] : rows.map(dueOf)
    const horizonAt = now + lookaheadMs
    floorAt = schedules[0]?.nextAt ?? beyond ?? horizonAt
    if (from === null) rest.looked({ read: read / (shard?.count ?? 1), found: schedules.length })
    if (schedules.length === limit) return { now, schedules, nextAt: null }
    // Whoever waits for the next is back when it is time to look from the beginning.
    return { now, schedules, nextAt: from === null ? beyond : Math.min(beyond ?? Infinity, horizonAt + rest.leftMs()) }
  }

  return async ({ lookaheadMs, limit, except = [], shard: wanted = null }) => {
    if (!isSameShard(shard, wanted)) {
      shard = wanted
      ahead = null
      floorAt = null
    }
    const isSame = ahead?.limit === limit && ahead.lookaheadMs === lookaheadMs
    const found = isSame ? await fromBacklog(ahead!, except) : undefined
    if (found !== undefined) return found
    const page = await nearest(lookaheadMs, limit, except)
    const isPatient = page.schedules.length === limit && page.schedules[0]!.nextAt > page.now + URGENT_MS
    if (isPatient) ahead = { lookaheadMs, limit, pages: [] }
    else if (isSame) ahead = null
    return page
  }
}

interface Ahead {
  readonly lookaheadMs: number
  readonly limit: number
  /** Places of the cursors of a backlog that were not handed out yet. Whether they are due still is asked again. */
  readonly pages: string[]
}

function scheduleOf(row: DueRow): DueSchedule {
  const pause = row[13]
  return {
    id: row[3]!,
    workspace: row[4],
    key: row[5],
    revision: row[6],
    timing: interned<TimingSpec>(row[7]),
    catchUp: interned<CatchUpPolicy>(row[8]),
    firing: interned<FiringPolicy>(row[9]),
    nextAt: row[10],
    watermarkAt: row[11],
    runCount: row[12],
    pausedUntil: pause?.until ?? null,
    pauseDetail: pause ? pauseDetail(pause) : '',
  }
}

const EXCEPT = `and c.schedule_id not in (select unnest((select $4::uuid[])))`
/** The last byte of an id is random, or part of a hash, whoever made the id. */
const SHARD = ` and get_byte(uuid_send(c.schedule_id), 15) % (select $5::int) = (select $6::int)`

const horizon = (schema: string): string => `
with clock as materialized (select ${schema}.now_at() as now, ${entriesRead(`${schema}.cursors_due`)} as read),
horizon as materialized (
  select now + ${spanOf('$1::float8')} as at, coalesce(${instantAt('$2::float8')}, '-infinity') as floor from clock
)`

/** The schedules of `near`. The lateral with a limit leaves the server no choice but to look up each schedule by its key. */
const schedulesNear = (schema: string, cursor: string): Statement['text'] => `
select ${msOf('clock.now')} as now, ${msOf(`(${cursor})`)} as cursor,
  (select ${entriesRead(`${schema}.cursors_due`)} - (select read from clock) from (select count(*) from near) all_of_it)::float8 as read,
  s.id, s.workspace, s.key, near.revision, s.timing::text as timing, s.catch_up::text as catch_up,
  s.firing::text as firing, ${msOf('near.next_at')} as next_at, ${msOf('near.watermark_at')} as watermark_at, near.run_count, s.pause,
  near.place::text || s.place::text as address
from clock
left join (near cross join lateral (
  select ctid as place, id, workspace, key, timing, catch_up, firing, pause
  from ${schema}.schedules where id = near.schedule_id limit 1
) s) on true
order by near.next_at`

const NEAR = 'c.ctid as place, c.schedule_id, c.next_at, c.watermark_at, c.revision, c.run_count'

/**
 * The cursors within the horizon, the nearest first, as many as `$3` says for each of so many pages. A limit that the server's
 * planner can look into makes it plan every look again; one that it cannot, it takes for a tenth of all cursors, and a look
 * among very many then seems expensive enough to be compiled, which takes far longer than the look. The second limit takes nothing
 * away, but says how few they are.
 */
const nearIn = (schema: string, columns: string, { pages, except }: { pages: number; except: string }): string => `
near as materialized (
  select * from (
    select ${columns} from ${schema}.cursors c
    where c.next_at >= (select floor from horizon) and c.next_at <= (select at from horizon) ${except}
    order by c.next_at
    limit (select $3::int * ${pages})
  ) nearest
  limit ${pages * LONGEST_PAGE}
)`

export const dueStatement = (schema: string, except = ''): Statement => ({
  ...prepared(
    `${horizon(schema)},${nearIn(schema, NEAR, { pages: 1, except })}${schedulesNear(
      schema,
      `select next_at from ${schema}.cursors c
    where next_at > (select at from horizon) and next_at >= (select floor from horizon) order by next_at limit 1`,
    )}`,
  ),
  rowMode: 'array',
})

/** Of those that the backlog had on this page, the ones that are still where they were. */
export const pageStatement = (schema: string): Statement => ({
  ...prepared(`${horizon(schema)},
near as materialized (
  select * from (select ${NEAR} from ${schema}.cursors c where c.ctid = any((select $3::text)::tid[]) offset 0) found
  where next_at <= (select at from horizon)
)${schedulesNear(schema, `select next_at from ${schema}.cursors where next_at >= (select floor from horizon) order by next_at limit 1`)}`),
  rowMode: 'array',
})

/** The nearest, in the order of their ids, as many whole pages of `$3` as there are. */
export const backlogStatement = (schema: string, shard = ''): Statement =>
  prepared(`${horizon(schema)},${nearIn(schema, 'c.ctid as place, c.schedule_id', { pages: BACKLOG_PAGES, except: EXCEPT + shard })}
select array_agg(place order by schedule_id)::text as places
from (select place, schedule_id, (row_number() over (order by schedule_id) - 1) / $3::int as page from near) numbered
group by page having count(*) = $3::int
order by page`)

export const dueInShardStatement = (schema: string): Statement => dueStatement(schema, EXCEPT + SHARD)
export const backlogInShardStatement = (schema: string): Statement => backlogStatement(schema, SHARD)
