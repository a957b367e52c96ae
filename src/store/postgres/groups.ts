/** Concurrency groups in Postgres: finds those that need a decision and reads who stands in them; the decision is `plan/overlap.ts`, writing it `group-moves.ts`. */
import { type ConcurrencyGroup, type GroupRun, OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { GroupPage, GroupStore } from '../contract/groups.ts'
import type { Connection } from './connection.ts'
import { createGroupMoves } from './group-moves.ts'
import { msOf, spanOf } from './rows.ts'
import { prepared, type Statement, texts, unseen } from './statement.ts'
import type { Wake } from './wake.ts'

/** Runs that are not ready that one decision sees. */
const IN_LINE = 100
/** Concurrency groups that one look at all of them passes through, and closed runs that it reads; the next goes on from there. */
const STEPS = 1000
const CLOSED = 5000

interface Row {
  now: number
  /** The last group that was passed through; null when all were. */
  reached: string | null
  /** Whether there was no group to pass through. */
  empty: boolean
  concurrency_group: string | null
  id: string
  schedule_id: string | null
  state: GroupRun['state']
  readiness: GroupRun['readiness']
  overlap: GroupRun['overlap']
  scheduled_at: number | null
  due_at: number
  fence: number
  cancel_requested: boolean
}

export function createGroups(connection: Connection, wake: Wake, schema: string): GroupStore {
  const [every, these] = [scanStatement(schema), groupScanStatement(schema)]
  /** With very many groups, where the last look at all of them ended. */
  let reached = ''

  const rowsFor = ({ of, limit }: GroupPage): Promise<Row[]> =>
    connection.hot.ask<Row>(of ? these : every, [of ? texts(of) : reached, limit])

  return {
    async look(page) {
      const rows = await rowsFor(page)
      if (!page.of) reached = rows[0]!.reached ?? ''
      const groups = new Map<string, GroupRun[]>()
      for (const row of rows) {
        if (row.concurrency_group === null) continue
        const runs = groups.get(row.concurrency_group)
        if (runs) runs.push(toGroupRun(row))
        else groups.set(row.concurrency_group, [toGroupRun(row)])
      }
      const empty = page.of ? {} : { empty: rows[0]!.empty }
      return {
        now: rows[0]!.now,
        ...empty,
        groups: [...groups].map(([group, runs]): ConcurrencyGroup => ({ group, runs })),
      }
    },
    apply: createGroupMoves(connection, wake, schema),
  }
}

const toGroupRun = (row: Row): GroupRun => ({
  id: row.id,
  scheduleId: row.schedule_id,
  state: row.state,
  readiness: row.readiness,
  overlap: row.overlap,
  scheduledAt: row.scheduled_at,
  dueAt: row.due_at,
  fence: row.fence,
  cancelRequested: row.cancel_requested,
})

/** In the words of the index `runs_blocked`. */
const PLACE = 'coalesce(r.scheduled_at, r.due_at), r.id'

/** Nobody is open, though somebody may be. */
const isFree = (schema: string, group: string): string => `(
      (select 1 from ${schema}.runs r where r.concurrency_group = ${group} and r.readiness = 'ready' limit 1) is null
      and (select 1 from ${schema}.runs r where r.concurrency_group = ${group} and r.readiness <> 'ready'
        and r.due_at <= (select now from clock) + ${spanOf(String(OPEN_AHEAD_MS))} limit 1) is not null
    )`

/** A closed run that came due far down the line changes nothing until it is among those that a decision sees. */
const hasCome = (schema: string, group: string): string => `(
      select 1 from (
        select r.readiness, r.due_at from ${schema}.runs r where r.concurrency_group = ${group} and r.readiness <> 'ready' order by ${PLACE} limit ${IN_LINE}
      ) near
      where near.readiness = 'undecided' and near.due_at <= (select now from clock) limit 1
    ) is not null`

const FIELDS = `r.id, r.schedule_id, r.state, r.readiness, r.overlap, ${msOf('r.scheduled_at')} as scheduled_at,
      ${msOf('r.due_at')} as due_at, r.fence, r.cancel_requested`

/** Who stands in the groups that `picked` names, the open run first, beside what was `seen` on the way. */
const lines = (schema: string, seen: string): string => `
select ${msOf('clock.now')} as now, ${seen}, line.* from clock left join (
  select picked.concurrency_group, run.* from picked cross join lateral (
    (select ${FIELDS} from ${schema}.runs r where r.concurrency_group = picked.concurrency_group and r.readiness = 'ready' limit 1)
    union all
    (select ${FIELDS} from ${schema}.runs r where r.concurrency_group = picked.concurrency_group and r.readiness <> 'ready' order by ${PLACE} limit ${IN_LINE})
  ) run
) line on true`

/**
 * Concurrency groups without an open run are looked for by jumps from group to group, beginning after $1 and coming around once; closed
 * runs that have come due stand in an index of their own. What is asked for stands apart, so that one plan serves all.
 */
export const scanStatement = (schema: string): Statement =>
  prepared(`
with recursive clock as materialized (select ${schema}.now_at() as now),
asked as materialized (select $1::text as start, $2::int as most),
walk as (
  select asked.start collate "C" as concurrency_group, asked.start = '' as around, 0 as step from asked
  union all
  select o.concurrency_group, o.around, w.step + 1 from walk w cross join lateral (
    (select r.concurrency_group, w.around from ${schema}.runs r where r.readiness <> 'ready' and r.concurrency_group > w.concurrency_group order by r.concurrency_group limit 1)
    union all
    (select r.concurrency_group, true from ${schema}.runs r where not w.around and r.readiness <> 'ready' order by r.concurrency_group limit 1)
    limit 1
  ) o
  where w.step < ${STEPS} and (not o.around or (select start = '' or o.concurrency_group <= start from asked))
),
come as materialized (
  select distinct concurrency_group from (
    select r.concurrency_group from ${schema}.runs r where r.readiness = 'undecided' and r.due_at <= (select now from clock) order by r.due_at limit ${CLOSED}
  ) closed
),
picked as materialized (
  select distinct concurrency_group from (
    select concurrency_group from walk where step > 0 and (${isFree(schema, 'walk.concurrency_group')} or ${hasCome(schema, 'walk.concurrency_group')})
    union all
    select concurrency_group from come where ${isFree(schema, 'come.concurrency_group')} or ${hasCome(schema, 'come.concurrency_group')}
    limit (select most from asked)
  ) any_of_them
)${lines(schema, `(select concurrency_group from walk where step = ${STEPS}) as reached, (select 1 from walk where step > 0 limit 1) is null as empty`)}`)

export const groupScanStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
picked as materialized (
  select concurrency_group from (select distinct concurrency_group collate "C" as concurrency_group from unnest(${unseen(1, 'text')}) as list (concurrency_group)) asked
  where (select 1 from ${schema}.runs r where r.concurrency_group = asked.concurrency_group and r.readiness <> 'ready' limit 1) is not null
    and (${isFree(schema, 'asked.concurrency_group')} or ${hasCome(schema, 'asked.concurrency_group')})
  limit (select $2::int)
)${lines(schema, 'null as reached, false as empty')}`)
