/** Cursors in Postgres: reads those that are due and writes plans; what becomes a run is decided by `plan`. */
import { toJsonText } from '../../json.ts'
import { pauseDetail } from '../../plan/non-run.ts'
import type { DueSchedule } from '../../plan/plan.ts'
import type { CatchUpPolicy, FiringPolicy, Pause, TimingSpec } from '../../schedule/schedule.ts'
import type { PlanningStore } from '../contract/planning.ts'
import type { Connection } from './connection.ts'
import { createRecord } from './record.ts'
import { instantAt, interned, msOf, spanOf } from './rows.ts'
import { prepared, type Statement, within } from './statement.ts'
import type { Wake } from './wake.ts'

interface DueRow {
  now: number
  beyond: number | null
  id: string | null
  workspace: string
  key: string
  revision: number
  timing: string
  catch_up: string
  firing: string
  next_at: number
  watermark_at: number
  made: number
  pause: Pause | null
}

export function createPlanning(connection: Connection, wake: Wake, schema: string): PlanningStore {
  const [due, record, quarantine] = [
    dueStatement(schema),
    createRecord(connection, schema),
    quarantineStatement(schema),
  ]
  return {
    async due({ lookaheadMs, limit }) {
      const rows = await connection.hot.ask<DueRow>(due, [lookaheadMs, limit])
      const schedules = rows[0]!.id === null ? [] : rows.map(dueOf)
      const { now, beyond } = rows[0]!
      return { now, schedules, nextAt: schedules.length < limit ? beyond : null }
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

const dueOf = (row: DueRow): DueSchedule => ({
  id: row.id!,
  workspace: row.workspace,
  key: row.key,
  revision: row.revision,
  timing: interned(row.timing) as TimingSpec,
  catchUp: interned(row.catch_up) as CatchUpPolicy,
  firing: interned(row.firing) as FiringPolicy,
  nextAt: row.next_at,
  watermarkAt: row.watermark_at,
  made: row.made,
  pausedUntil: row.pause?.until ?? null,
  pauseDetail: row.pause ? pauseDetail(row.pause) : '',
})

/** The lateral with a limit leaves the server no choice but to look up each schedule by its key. */
export const dueStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
horizon as materialized (select now + ${spanOf('$1::float8')} as at from clock),
near as materialized (
  select c.schedule_id, c.next_at, c.watermark_at, c.revision, c.made
  from ${schema}.cursors c
  where c.next_at <= (select at from horizon)
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
order by near.next_at`)

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
