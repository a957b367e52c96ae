/** What alert rules have to know of runs and schedules, from SQLite: by index, a bounded number of rows; what it means is decided in `observe/`. */
import type { RunError, RunPolicy } from '../../run/run.ts'
import {
  type LongRun,
  MOST_OF_ALL,
  MOST_OF_ONE,
  type MonitoringStore,
  type PassedOver,
  type RecentSuccesses,
  type RetryingSchedule,
  type UnknownJob,
  type WaitingSchedule,
} from '../contract/monitoring.ts'
import type { Connection } from './connection.ts'
import { NOBODY } from './run-rows.ts'

/** Finished runs of one schedule that are looked at for a success. */
const SCAN_RUNS = 200
const DURATIONS = 20
/** Schedules that are looked at in one go, a few milliseconds of work. */
const AT_ONCE = 20
const PRIORITIES = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

// A bare column beside max() is that of the row which has it.
export const UNSUCCESSFUL = `
  select subject.*, h.id as run_id, h.error from (
  select * from (
  select grouped.*, row_number() over (partition by workspace order by newest desc) as place from (
    select workspace, schedule_id, job, schedule_key, max(finished_at) as newest, sum(state = 'failed') as failed,
      max(iif(state = 'failed', finished_at, null)) as failed_at
    from (
      select workspace, schedule_id, job, schedule_key, state, finished_at from everytick_history
      where state <> 'succeeded' and finished_at > ? and finished_at <= ?
      order by finished_at desc limit ?)
    group by workspace, schedule_id, iif(schedule_id is null, job, null)
  ) grouped
  where schedule_id is null or exists (select 1 from everytick_schedules where id = schedule_id)
  ) where place <= ${MOST_OF_ONE} order by place, newest desc limit ${MOST_OF_ALL}
  ) subject
  left join everytick_history h on h.rowid = (
    select f.rowid from everytick_history f
    where f.state <> 'succeeded' and f.finished_at = subject.failed_at and f.state = 'failed'
      and f.schedule_id is subject.schedule_id and f.workspace = subject.workspace and (subject.schedule_id is not null or f.job = subject.job)
    limit 1)
  order by newest desc`

// Ids begin with the instant of the occurrence, or of the request where there is none.
export const SUCCESSES = `
  select finished_at as at, finished_at - started_at as ms from (
    select finished_at, started_at, state from everytick_history where schedule_id = ? order by id desc limit ${SCAN_RUNS})
  where state = 'succeeded' order by finished_at desc limit ${DURATIONS}`

export const PASSED_OVER = `
  select id, workspace from (
    select s.id, s.workspace, row_number() over (partition by s.workspace order by newest desc) as place from (
      select schedule_id, max(recorded_at) as newest from (
        select schedule_id, state, reason, recorded_at from everytick_non_runs
        where recorded_at > ? and recorded_at <= ? order by recorded_at desc limit ?)
      where state = 'missed' or reason = 'overlap' group by schedule_id) passed
    cross join everytick_schedules s on s.id = passed.schedule_id)
  where place <= ${MOST_OF_ONE} order by place limit ${MOST_OF_ALL}`

/** The conditions on the journal are those of its index `everytick_journal_retrying`. */
export const RETRYING = `
  select id, workspace from (
  select r.schedule_id as id, r.workspace, min(u.at) as since,
    row_number() over (partition by r.workspace order by min(u.at)) as place from (
    select run_id, max(at) as at from (
      select run_id, at from everytick_journal
      where kind in ('retry', 'lost', 'timed_out', 'postponed') and schedule_id is not null and at > ? and at <= ?
      order by at desc limit ?)
    group by run_id
  ) u cross join everytick_runs r on r.id = u.run_id
  where r.state = 'pending' group by r.schedule_id, r.workspace)
  where place <= ${MOST_OF_ONE} order by place, since limit ${MOST_OF_ALL}`

export const WAITING = `
  select id, workspace, key, "dueAt" from (
  select waiting.*, row_number() over (partition by workspace order by "dueAt") as place from (
  select schedule_id as id, workspace, schedule_key as key, min(due_at) as "dueAt" from (
    select schedule_id, workspace, schedule_key, attempt, due_at from everytick_runs
    where state = 'pending' and readiness = 'ready' and queue = ? and priority = ? and due_at <= ?
    order by due_at limit ?)
  where schedule_id is not null and attempt = 0 group by schedule_id) waiting)
  where place <= ${MOST_OF_ONE} order by place limit ${MOST_OF_ALL}`

export const RUNNING = `
  select id, workspace, job, schedule_id, schedule_key, worker_id, policy, started_at as "startedAt", lease_until as "leaseUntil"
  from (
    select *, row_number() over (partition by workspace order by started_at, id) as place
    from everytick_runs indexed by everytick_runs_lease where state = 'running' and started_at <= ?)
  where place <= ${MOST_OF_ONE} order by place, started_at, id limit ?`

export const UNKNOWN_JOBS = `
  select workspace, job, queue, runs, "sinceAt" from (
  select r.workspace, r.job, r.queue, count(*) as runs, min(r.created_at) as "sinceAt",
    row_number() over (partition by r.workspace order by r.job, r.queue) as place from (
    select distinct run_id from (
      select run_id from everytick_journal
      where kind = 'unknown_job' and at > ? and at <= ? order by at desc limit ?)
  ) u cross join everytick_runs r on r.id = u.run_id
  where r.state = 'pending' group by r.workspace, r.job, r.queue)
  where place <= ${MOST_OF_ONE} order by job, queue, workspace`

interface SubjectRow {
  readonly workspace: string
  readonly job: string
  readonly schedule_id: string | null
  readonly schedule_key: string | null
  readonly failed: number
  readonly failed_at: number | null
  readonly run_id: string | null
  readonly error: string | null
}

interface LongRow extends Omit<LongRun, 'schedule' | 'timeoutMs' | 'workerId'> {
  readonly schedule_id: string | null
  readonly schedule_key: string | null
  readonly worker_id: string
  readonly policy: string
}

export function monitoringStore(connection: Connection): MonitoringStore {
  const successesOf = (id: string): RecentSuccesses | null => {
    const rows = connection.all<{ at: number; ms: number | null }>(SUCCESSES, id)
    const durationsMs = rows.flatMap(({ ms }) => ms ?? [])
    return rows.length === 0 ? null : { at: rows[0]!.at, durationsMs }
  }

  return {
    async unsuccessful({ afterAt, untilAt }, limit) {
      const rows = await connection.read(() => connection.all<SubjectRow>(UNSUCCESSFUL, afterAt, untilAt, limit))
      return rows.map(({ workspace, job, failed, schedule_id: id, schedule_key: key, ...row }) => ({
        ...{ workspace, job, failed },
        schedule: id === null ? null : { id, key: key ?? '' },
        lastFailure:
          row.run_id === null || row.failed_at === null
            ? null
            : { runId: row.run_id, at: row.failed_at, error: errorOf(row.error) },
      }))
    },
    async successes(scheduleIds) {
      const found = new Map<string, RecentSuccesses>()
      const ids = [...new Set(scheduleIds)]
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        await connection.read(() => {
          for (const id of ids.slice(from, from + AT_ONCE)) {
            const successes = successesOf(id)
            if (successes) found.set(id, successes)
          }
        })
      }
      return found
    },
    async passedOver({ afterAt, untilAt }, limit) {
      return connection.read(() => connection.all<PassedOver>(PASSED_OVER, afterAt, untilAt, limit))
    },
    retrying: ({ afterAt, untilAt }, limit) =>
      connection.read(() => connection.all<RetryingSchedule>(RETRYING, afterAt, untilAt, limit)),
    async waiting(queue, { dueBefore, limit }) {
      const oldest = new Map<string, WaitingSchedule>()
      await connection.read(() => {
        for (const priority of PRIORITIES) {
          for (const each of connection.all<WaitingSchedule>(WAITING, queue, priority, dueBefore, limit)) {
            const known = oldest.get(each.id)
            if (!known || each.dueAt < known.dueAt) oldest.set(each.id, each)
          }
        }
      })
      return [...oldest.values()].sort((a, b) => a.dueAt - b.dueAt)
    },
    async running({ startedBefore, limit }) {
      const rows = await connection.read(() => connection.all<LongRow>(RUNNING, startedBefore, limit))
      rows.sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
      return rows.map(({ schedule_id: id, schedule_key: key, worker_id: workerId, policy, ...rest }) => ({
        ...rest,
        schedule: id === null ? null : { id, key: key ?? '' },
        workerId: workerId === NOBODY ? null : workerId,
        timeoutMs: (JSON.parse(policy) as RunPolicy).timeoutMs ?? null,
      }))
    },
    unknownJobs: ({ afterAt, untilAt }, limit) =>
      connection.read(() => connection.all<UnknownJob>(UNKNOWN_JOBS, afterAt, untilAt, limit)),
  }
}

function errorOf(text: string | null): Pick<RunError, 'name' | 'message'> | null {
  if (text === null) return null
  const { name, message } = JSON.parse(text) as RunError
  return { name, message: message.slice(0, 200) }
}
