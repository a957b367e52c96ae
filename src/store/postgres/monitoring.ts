/** What alert rules have to know of runs and schedules, in Postgres: by index, a bounded number of rows; what it means is decided in `observe/`. */
import type { RunPolicy } from '../../run/run.ts'
import {
  type LongRun,
  MOST_OF_ALL,
  MOST_OF_ONE,
  type MonitoringStore,
  type PassedOver,
  type RetryingSchedule,
  type UnknownJob,
  type UnsuccessfulSubject,
  type WaitingSchedule,
} from '../contract/monitoring.ts'
import { MAY_START } from './claim.ts'
import type { Connection } from './connection.ts'
import { instantAt, isId, msOf, NOBODY } from './rows.ts'
import { plain, prepared, type Statement } from './statement.ts'

/** Finished runs of one schedule that are looked at for a success: the newest with a nominal instant, and some without. */
const SCAN_RUNS = 200
const SCAN_TRIGGERED = 1000
const DURATIONS = 20

interface SubjectRow extends Omit<UnsuccessfulSubject, 'schedule' | 'lastFailure'> {
  schedule_id: string | null
  schedule_key: string | null
  run_id: string | null
  at: number | null
  error: { readonly name: string; readonly message: string } | null
}

interface SuccessRow {
  schedule_id: string
  at: number
  durations: readonly number[]
}

interface LongRow extends Omit<LongRun, 'schedule' | 'timeoutMs' | 'workerId'> {
  schedule_id: string | null
  schedule_key: string | null
  worker_id: string
  policy: RunPolicy
}

export function createMonitoring(connection: Connection, schema: string): MonitoringStore {
  const [unsuccessful, successes, passedOver, retrying] = [
    unsuccessfulStatement(schema),
    successesStatement(schema),
    passedOverStatement(schema),
    retryingStatement(schema),
  ]
  const [waiting, running, unknownJobs] = [
    waitingStatement(schema),
    runningStatement(schema),
    unknownJobsStatement(schema),
  ]
  const { ask } = connection.api
  return {
    async unsuccessful({ afterAt, untilAt }, limit) {
      const rows = await ask<SubjectRow>(unsuccessful, [afterAt, untilAt, limit])
      return rows.map(({ schedule_id: id, schedule_key: key, run_id: runId, at, error, ...rest }) => ({
        ...rest,
        schedule: id === null ? null : { id, key: key ?? '' },
        lastFailure: runId === null || at === null ? null : { runId, at, error },
      }))
    },
    async successes(scheduleIds) {
      const ids = [...new Set(scheduleIds.filter(isId))]
      if (ids.length === 0) return new Map()
      const rows = await ask<SuccessRow>(successes, [plain(ids)])
      return new Map(rows.map(({ schedule_id: id, at, durations }) => [id, { at, durationsMs: durations }]))
    },
    passedOver: ({ afterAt, untilAt }, limit) => ask<PassedOver>(passedOver, [afterAt, untilAt, limit]),
    retrying: ({ afterAt, untilAt }, limit) => ask<RetryingSchedule>(retrying, [afterAt, untilAt, limit]),
    waiting: (queue, { dueBefore, limit }) => ask<WaitingSchedule>(waiting, [queue, dueBefore, limit]),
    async running({ startedBefore, limit }) {
      const rows = await ask<LongRow>(running, [startedBefore, limit])
      rows.sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
      return rows.map(({ schedule_id: id, schedule_key: key, worker_id: workerId, policy, ...rest }) => ({
        ...rest,
        schedule: id === null ? null : { id, key: key ?? '' },
        workerId: workerId === NOBODY ? null : workerId,
        timeoutMs: policy.timeoutMs ?? null,
      }))
    },
    unknownJobs: ({ afterAt, untilAt }, limit) => ask<UnknownJob>(unknownJobs, [afterAt, untilAt, limit]),
  }
}

const within = (column: string): string =>
  `${column} > ${instantAt('$1::float8')} and ${column} <= ${instantAt('$2::float8')}`

/** In the words of the index of runs that ended otherwise than well. The error is read of the newest failure of each subject only. */
export const unsuccessfulStatement = (schema: string): Statement =>
  prepared(`
with looked as materialized (
  select h.id, h.workspace, h.job, h.schedule_id, h.schedule_key, h.state, h.finished_at from ${schema}.history h
  where h.state <> 'succeeded' and ${within('h.finished_at')}
  order by h.finished_at desc limit $3::int
),
subjects as materialized (
  select workspace, schedule_id, (array_agg(job order by finished_at desc))[1] as job,
    (array_agg(schedule_key order by finished_at desc))[1] as schedule_key, max(finished_at) as newest,
    count(*) filter (where state = 'failed') as failed, max(finished_at) filter (where state = 'failed') as failed_at,
    (array_agg(id order by finished_at desc) filter (where state = 'failed'))[1] as run_id
  from looked group by workspace, schedule_id, case when schedule_id is null then job end
)
select s.workspace, s.job, s.schedule_id, s.schedule_key, s.failed::float8 as failed, s.run_id, ${msOf('s.failed_at')} as at, e.error
from (
  select * from (
    select subjects.*, row_number() over (partition by workspace order by newest desc) as place from subjects
    where schedule_id is null or (select true from ${schema}.schedules where id = subjects.schedule_id limit 1)
  ) placed
  where place <= ${MOST_OF_ONE} order by place, newest desc limit ${MOST_OF_ALL}
) s left join lateral (
  select json_build_object('name', h.error ->> 'name', 'message', left(h.error ->> 'message', 200)) as error
  from ${schema}.history h where h.id = s.run_id and h.finished_at = s.failed_at and h.error is not null limit 1
) e on true
order by s.newest desc`)

export const successesStatement = (schema: string): Statement => {
  const some = (which: string): string => `(
    select h.finished_at, h.started_at, h.state from ${schema}.history h
    where h.schedule_id = wanted.id and h.scheduled_at ${which}
  )`
  return prepared(`
select wanted.id as schedule_id, ${msOf('found.at')} as at, found.durations
from unnest($1::text::uuid[]) as wanted (id)
cross join lateral (
  select max(finished_at) as at,
    to_json(coalesce(
      (array_agg(${msOf('finished_at - started_at')} order by finished_at desc) filter (where started_at is not null))[1:${DURATIONS}], '{}'
    )) as durations
  from (
    ${some(`is not null order by h.scheduled_at desc limit ${SCAN_RUNS}`)}
    union all
    ${some(`is null limit ${SCAN_TRIGGERED}`)}
  ) looked where state = 'succeeded'
) found
where found.at is not null`)
}

export const passedOverStatement = (schema: string): Statement =>
  prepared(`
select id, workspace from (
  select passed.schedule_id as id, s.workspace, row_number() over (partition by s.workspace order by newest desc) as place
  from (
    select schedule_id, max(recorded_at) as newest from (
      select n.schedule_id, n.state, n.reason, n.recorded_at from ${schema}.non_runs n
      where ${within('n.recorded_at')} order by n.recorded_at desc limit $3::int
    ) looked
    where state = 'missed' or reason = 'overlap' group by schedule_id
  ) passed
  cross join lateral (select workspace from ${schema}.schedules where id = passed.schedule_id limit 1) s
) placed
where place <= ${MOST_OF_ONE} order by place limit ${MOST_OF_ALL}`)

/** The conditions on the journal are those of its index `journal_retrying`. */
export const retryingStatement = (schema: string): Statement =>
  prepared(`
select id, workspace from (
select r.schedule_id as id, r.workspace, min(u.at) as since,
  row_number() over (partition by r.workspace order by min(u.at)) as place from (
  select run_id, max(at) as at from (
    select j.run_id, j.at from ${schema}.journal j
    where j.kind in ('retry', 'lost', 'timed_out', 'postponed') and j.schedule_id is not null and ${within('j.at')}
    order by j.at desc limit $3::int
  ) looked group by run_id
) u cross join lateral (
  select schedule_id, workspace from ${schema}.runs where id = u.run_id and state = 'pending' limit 1
) r
group by r.schedule_id, r.workspace
) placed
where place <= ${MOST_OF_ONE} order by place, since limit ${MOST_OF_ALL}`)

/** Each priority by the index that claims use. */
export const waitingStatement = (schema: string): Statement =>
  prepared(`
select id, workspace, key, "dueAt" from (
select schedule_id as id, min(workspace) as workspace, min(schedule_key) as key, ${msOf('min(due_at)')} as "dueAt",
  row_number() over (partition by min(workspace) order by min(due_at)) as place
from generate_series(9, 0, -1) as level cross join lateral (
  select p.schedule_id, p.workspace, p.schedule_key, p.attempt, p.due_at from ${schema}.runs p
  where ${MAY_START} and p.queue = $1::text and p.priority = level::smallint and p.due_at <= ${instantAt('$2::float8')}
  order by p.due_at limit $3::int
) waiting
where schedule_id is not null and attempt = 0
group by schedule_id
) placed
where place <= ${MOST_OF_ONE}
order by "dueAt"`)

/** A run that has been running for a while had its lease renewed, and stands in the index of those. */
export const runningStatement = (schema: string): Statement =>
  prepared(`
select id, workspace, job, schedule_id, schedule_key, worker_id, policy, "startedAt", "leaseUntil" from (
  select r.id, r.workspace, r.job, r.schedule_id, r.schedule_key, r.worker_id, r.policy,
    ${msOf('r.started_at')} as "startedAt", ${msOf('r.lease_until')} as "leaseUntil",
    row_number() over (partition by r.workspace order by r.started_at, r.id) as place
  from ${schema}.runs r
  where r.index_excluded and r.state = 'running' and r.started_at <= ${instantAt('$1::float8')}
) placed
where place <= ${MOST_OF_ONE} order by place, "startedAt", id limit $2::int`)

export const unknownJobsStatement = (schema: string): Statement =>
  prepared(`
select workspace, job, queue, runs, "sinceAt" from (
select r.workspace, r.job, r.queue, count(*)::float8 as runs, ${msOf('min(r.created_at)')} as "sinceAt",
  row_number() over (partition by r.workspace order by r.job, r.queue) as place from (
  select distinct run_id from (
    select j.run_id from ${schema}.journal j
    where j.kind = 'unknown_job' and ${within('j.at')} order by j.at desc limit $3::int
  ) looked
) u cross join lateral (
  select workspace, job, queue, created_at from ${schema}.runs where id = u.run_id and state = 'pending' limit 1
) r
group by r.workspace, r.job, r.queue
) placed
where place <= ${MOST_OF_ONE}
order by job, queue, workspace`)
