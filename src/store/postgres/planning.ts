/** Cursors in Postgres: reads those that are due and writes plans; what becomes a run is decided by `plan`. */
import { toJsonText } from '../../json.ts'
import { pauseDetail } from '../../plan/non-run.ts'
import type { DueSchedule } from '../../plan/plan.ts'
import type { CatchUpPolicy, FiringPolicy, Pause, TimingSpec } from '../../schedule/schedule.ts'
import type { PlanningStore } from '../contract/planning.ts'
import { interned } from '../interned.ts'
import type { Connection } from './connection.ts'
import { createRecord } from './record.ts'
import { instantAt, msOf, spanOf } from './rows.ts'
import { plain, prepared, type Statement, unseen, within } from './statement.ts'
import type { Wake } from './wake.ts'

/** Before each schedule, and also when none is to follow: the clock, and the first cursor beyond the horizon. */
type DueRow = readonly [
  now: number,
  beyond: number | null,
  id: string | null,
  workspace: string,
  key: string,
  revision: number,
  timing: string,
  catchUp: string,
  firing: string,
  nextAt: number,
  watermarkAt: number,
  made: number,
  pause: Pause | null,
]

export function createPlanning(connection: Connection, wake: Wake, schema: string): PlanningStore {
  const [due, dueExcept] = [dueStatement(schema), dueStatement(schema, EXCEPT)]
  const [record, quarantine] = [createRecord(connection, schema), quarantineStatement(schema)]
  return {
    // One connection reads or writes while the other writes; more would be in the way of claims and settlements.
    recordsAtOnce: 3,
    async due({ lookaheadMs, limit, except }) {
      const rows = await (except?.size
        ? connection.hot.ask<DueRow>(dueExcept, [lookaheadMs, limit, plain([...except])])
        : connection.hot.ask<DueRow>(due, [lookaheadMs, limit]))
      const [now, beyond, id] = rows[0]!
      const schedules = id === null ? [] : rows.map(dueOf)
      return {
        now,
        schedules,
        nextAt: schedules.length < limit ? beyond : null,
      }
    },
    async record(plans, tx) {
      if (plans.length === 0) return []
      const { answers, queues } = await record(plans, tx)
      const hint = { kind: 'runs', queues } as const
      if (queues.length > 0) await (tx ? wake.tellWithin(within(tx), hint) : wake.tell(hint))
      return answers
    },
    async quarantine({ id, revision, nextAt }, why) {
      await connection.hot.ask(quarantine, [id, revision, nextAt, toJsonText(why, { what: 'the reason' })])
    },
  }
}

function dueOf(row: DueRow): DueSchedule {
  const pause = row[12]
  return {
    id: row[2]!,
    workspace: row[3],
    key: row[4],
    revision: row[5],
    timing: interned<TimingSpec>(row[6]),
    catchUp: interned<CatchUpPolicy>(row[7]),
    firing: interned<FiringPolicy>(row[8]),
    nextAt: row[9],
    watermarkAt: row[10],
    made: row[11],
    pausedUntil: pause?.until ?? null,
    pauseDetail: pause ? pauseDetail(pause) : '',
  }
}

const EXCEPT = `and c.schedule_id not in (select unnest(${unseen(3, 'uuid')}))`

/** The lateral with a limit leaves the server no choice but to look up each schedule by its key. */
export const dueStatement = (schema: string, except = ''): Statement => ({
  ...prepared(`
with clock as materialized (select ${schema}.now_at() as now),
horizon as materialized (select now + ${spanOf('$1::float8')} as at from clock),
near as materialized (
  select c.schedule_id, c.next_at, c.watermark_at, c.revision, c.made
  from ${schema}.cursors c
  where c.next_at <= (select at from horizon) ${except}
  order by c.next_at
  limit $2::int
),
beyond as (
  select c.next_at from ${schema}.cursors c where c.next_at > (select at from horizon) order by c.next_at limit 1
)
select ${msOf('clock.now')} as now, ${msOf('(select next_at from beyond)')} as beyond,
  s.id, s.workspace, s.key, near.revision, s.timing::text as timing, s.catch_up::text as catch_up,
  s.firing::text as firing, ${msOf('near.next_at')} as next_at, ${msOf('near.watermark_at')} as watermark_at, near.made, s.pause
from clock
left join (near cross join lateral (
  select id, workspace, key, timing, catch_up, firing, pause
  from ${schema}.schedules where id = near.schedule_id limit 1
) s) on true
order by near.next_at`),
  rowMode: 'array',
})

const quarantineStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
held as materialized (select id from ${schema}.schedules where id = $1::uuid and revision = $2::int for update),
parked as (
  update ${schema}.cursors set next_at = null
  where schedule_id = (select id from held) and revision = $2::int and next_at = ${instantAt('$3::float8')}
  returning schedule_id
),
aside as (
  update ${schema}.schedules
  set quarantine = $4::text::jsonb || jsonb_build_object('at', ${msOf('(select now from clock)')})
  where id = (select schedule_id from parked)
)
insert into ${schema}.journal (at, kind, schedule_id, data)
select clock.now, 'quarantined', parked.schedule_id, $4::text::jsonb
from parked cross join clock`)
