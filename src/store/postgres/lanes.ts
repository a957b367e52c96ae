/** Lanes in Postgres: finds those that need a decision and reads who stands in them; the decision is `plan/overlap.ts`, writing it `lane-moves.ts`. */
import { type Lane, type LaneRun, OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { LanePage, LaneStore } from '../contract/lanes.ts'
import type { Connection } from './connection.ts'
import { createLaneMoves } from './lane-moves.ts'
import { msOf, spanOf } from './rows.ts'
import { prepared, type Statement, texts, unseen } from './statement.ts'
import type { Wake } from './wake.ts'

/** Runs behind the gate that one decision sees. */
const IN_LINE = 100
/** Lanes that one look at all of them passes through, and closed runs that it reads; the next goes on from there. */
const STEPS = 1000
const CLOSED = 5000

interface Row {
  now: number
  /** The last lane that was passed through; null when all were. */
  reached: string | null
  /** Whether there was no lane to pass through. */
  empty: boolean
  lane: string | null
  id: string
  schedule_id: string | null
  state: LaneRun['state']
  gate: LaneRun['gate']
  overlap: LaneRun['overlap']
  scheduled_at: number | null
  due_at: number
  fence: number
  cancel_requested: boolean
}

export function createLanes(connection: Connection, wake: Wake, schema: string): LaneStore {
  const [every, these] = [lookStatement(schema), lookAtStatement(schema)]
  /** With very many lanes, where the last look at all of them ended. */
  let reached = ''

  const rowsFor = ({ of, limit }: LanePage): Promise<Row[]> =>
    connection.hot.ask<Row>(of ? these : every, [of ? texts(of) : reached, limit])

  return {
    async look(page) {
      const rows = await rowsFor(page)
      if (!page.of) reached = rows[0]!.reached ?? ''
      const lanes = new Map<string, LaneRun[]>()
      for (const row of rows) {
        if (row.lane === null) continue
        const runs = lanes.get(row.lane)
        if (runs) runs.push(laneRunOf(row))
        else lanes.set(row.lane, [laneRunOf(row)])
      }
      const empty = page.of ? {} : { empty: rows[0]!.empty }
      return { now: rows[0]!.now, ...empty, lanes: [...lanes].map(([lane, runs]): Lane => ({ lane, runs })) }
    },
    apply: createLaneMoves(connection, wake, schema),
  }
}

const laneRunOf = (row: Row): LaneRun => ({
  id: row.id,
  scheduleId: row.schedule_id,
  state: row.state,
  gate: row.gate,
  overlap: row.overlap,
  scheduledAt: row.scheduled_at,
  dueAt: row.due_at,
  fence: row.fence,
  cancelRequested: row.cancel_requested,
})

/** In the words of the index `runs_gated`. */
const PLACE = 'coalesce(r.scheduled_at, r.due_at), r.id'

/** Nobody is open, though somebody may be. */
const isFree = (schema: string, lane: string): string => `(
      (select 1 from ${schema}.runs r where r.lane = ${lane} and r.gate = 'open' limit 1) is null
      and (select 1 from ${schema}.runs r where r.lane = ${lane} and r.gate <> 'open'
        and r.due_at <= (select now from clock) + ${spanOf(String(OPEN_AHEAD_MS))} limit 1) is not null
    )`

/** A closed run that came due far down the line changes nothing until it is among those that a decision sees. */
const hasCome = (schema: string, lane: string): string => `(
      select 1 from (
        select r.gate, r.due_at from ${schema}.runs r where r.lane = ${lane} and r.gate <> 'open' order by ${PLACE} limit ${IN_LINE}
      ) near
      where near.gate = 'closed' and near.due_at <= (select now from clock) limit 1
    ) is not null`

const FIELDS = `r.id, r.schedule_id, r.state, r.gate, r.overlap, ${msOf('r.scheduled_at')} as scheduled_at,
      ${msOf('r.due_at')} as due_at, r.fence, r.cancel_requested`

/** Who stands in the lanes that `picked` names, the open run first, beside what was `seen` on the way. */
const lines = (schema: string, seen: string): string => `
select ${msOf('clock.now')} as now, ${seen}, line.* from clock left join (
  select picked.lane, run.* from picked cross join lateral (
    (select ${FIELDS} from ${schema}.runs r where r.lane = picked.lane and r.gate = 'open' limit 1)
    union all
    (select ${FIELDS} from ${schema}.runs r where r.lane = picked.lane and r.gate <> 'open' order by ${PLACE} limit ${IN_LINE})
  ) run
) line on true`

/**
 * Lanes without an open run are looked for by jumps from lane to lane, beginning after $1 and coming around once; closed
 * runs that have come due stand in an index of their own. What is asked for stands apart, so that one plan serves all.
 */
export const lookStatement = (schema: string): Statement =>
  prepared(`
with recursive clock as materialized (select ${schema}.now_at() as now),
asked as materialized (select $1::text as start, $2::int as most),
walk as (
  select asked.start collate "C" as lane, asked.start = '' as around, 0 as step from asked
  union all
  select o.lane, o.around, w.step + 1 from walk w cross join lateral (
    (select r.lane, w.around from ${schema}.runs r where r.gate <> 'open' and r.lane > w.lane order by r.lane limit 1)
    union all
    (select r.lane, true from ${schema}.runs r where not w.around and r.gate <> 'open' order by r.lane limit 1)
    limit 1
  ) o
  where w.step < ${STEPS} and (not o.around or (select start = '' or o.lane <= start from asked))
),
come as materialized (
  select distinct lane from (
    select r.lane from ${schema}.runs r where r.gate = 'closed' and r.due_at <= (select now from clock) order by r.due_at limit ${CLOSED}
  ) closed
),
picked as materialized (
  select distinct lane from (
    select lane from walk where step > 0 and (${isFree(schema, 'walk.lane')} or ${hasCome(schema, 'walk.lane')})
    union all
    select lane from come where ${isFree(schema, 'come.lane')} or ${hasCome(schema, 'come.lane')}
    limit (select most from asked)
  ) any_of_them
)${lines(schema, `(select lane from walk where step = ${STEPS}) as reached, (select 1 from walk where step > 0 limit 1) is null as empty`)}`)

export const lookAtStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
picked as materialized (
  select lane from (select distinct lane collate "C" as lane from unnest(${unseen(1, 'text')}) as list (lane)) asked
  where (select 1 from ${schema}.runs r where r.lane = asked.lane and r.gate <> 'open' limit 1) is not null
    and (${isFree(schema, 'asked.lane')} or ${hasCome(schema, 'asked.lane')})
  limit (select $2::int)
)${lines(schema, 'null as reached, false as empty')}`)
