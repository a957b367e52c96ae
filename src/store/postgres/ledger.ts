/** What became of the occurrences of a schedule, in Postgres: runs by their nominal instant, and ranges that became none. */
import type { NonRun } from '../../plan/non-run.ts'
import type { HistoryStore, SlotRun } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import { instantAt, isId, msOf } from './rows.ts'
import { prepared, type Statement } from './statement.ts'

interface NonRunRow extends Pick<NonRun, 'state' | 'reason' | 'detail' | 'count'> {
  from_at: number
  to_at: number
  recorded_at: number
}

interface SlotRow extends Pick<SlotRun, 'id' | 'state' | 'trigger' | 'readiness' | 'queue' | 'attempt'> {
  scheduled_at: number
  due_at: number
  schedule_revision: number | null
  worker_id: string | null
  started_at: number | null
  finished_at: number | null
  deleted_at: number | null
  deleted_by: string | null
}

export function createLedger(connection: Connection, schema: string): Pick<HistoryStore, 'nonRuns' | 'slots'> {
  const [nonRuns, slots] = [nonRunsStatement(schema), slotsStatement(schema)]
  const { ask } = connection.api
  return {
    async nonRuns(scheduleId, span) {
      if (!isId(scheduleId)) return []
      const rows = await ask<NonRunRow>(nonRuns, [scheduleId, span?.afterAt ?? null, span?.untilAt ?? null])
      return rows.map(({ from_at: fromAt, to_at: toAt, recorded_at: recordedAt, ...rest }) => {
        return { ...rest, fromAt, toAt, scheduleId, recordedAt }
      })
    },
    async slots(scheduleId, { afterAt, untilAt }, limit) {
      if (!isId(scheduleId)) return []
      return (await ask<SlotRow>(slots, [scheduleId, afterAt, untilAt, limit])).map(slotOf)
    },
  }
}

function slotOf(row: SlotRow): SlotRun {
  const {
    scheduled_at,
    due_at,
    schedule_revision,
    worker_id,
    started_at,
    finished_at,
    deleted_at,
    deleted_by,
    ...rest
  } = row
  return {
    ...rest,
    scheduledAt: scheduled_at,
    dueAt: due_at,
    revision: schedule_revision ?? 0,
    workerId: worker_id || null,
    startedAt: started_at,
    finishedAt: finished_at,
    ...(deleted_at === null ? {} : { deleted: { by: deleted_by!, at: deleted_at } }),
  }
}

export const nonRunsStatement = (schema: string): Statement =>
  prepared(`
select n.state, n.reason, n.detail, n.count, ${msOf('n.from_at')} as from_at, ${msOf('n.to_at')} as to_at,
  ${msOf('n.recorded_at')} as recorded_at
from ${schema}.non_runs n
where n.schedule_id = $1::uuid and n.to_at > coalesce(${instantAt('$2::float8')}, '-infinity')
  and n.from_at <= coalesce(${instantAt('$3::float8')}, 'infinity')
order by n.from_at, n.recorded_at`)

const FIELDS = (of: string): string =>
  `${of}.id, ${of}.state, ${of}.trigger, ${of}.queue, ${of}.attempt, ${of}.schedule_revision, ${of}.worker_id,
    ${msOf(`${of}.scheduled_at`)} as scheduled_at, ${msOf(`${of}.due_at`)} as due_at, ${msOf(`${of}.started_at`)} as started_at`

/** One statement, so that a run that moves meanwhile is seen once; live ones by each of the two indexes that have them. */
export const slotsStatement = (schema: string): Statement => {
  const within = (of: string): string =>
    `${of}.schedule_id = $1::uuid and ${of}.scheduled_at > ${instantAt('$2::float8')} and ${of}.scheduled_at <= ${instantAt('$3::float8')}`
  const live = (which: string): string => `(
  select ${FIELDS('r')}, r.readiness, null::float8 as finished_at, null::float8 as deleted_at, null as deleted_by from ${schema}.runs r
  where ${within('r')} and ${which}
  order by r.scheduled_at limit $4::int
)`
  return prepared(`
${live(`r.trigger <> 'backfill'`)}
union all
${live(`r.trigger = 'backfill'`)}
union all
(
  select ${FIELDS('h')}, 'ready' as readiness, ${msOf('h.finished_at')} as finished_at, null, null from ${schema}.history h
  where ${within('h')}
  order by h.scheduled_at limit $4::int
)
union all
(
  select ${FIELDS('d')}, 'ready' as readiness, ${msOf('d.finished_at')} as finished_at, ${msOf('d.deleted_at')}, d.deleted_by
  from ${schema}.deleted_runs d
  where ${within('d')}
  order by d.scheduled_at limit $4::int
)
order by scheduled_at, id
limit $4::int`)
}
