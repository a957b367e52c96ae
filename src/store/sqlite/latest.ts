/** The newest runs of many schedules at once, from SQLite, by their nominal instants; those of one span are `ledger.ts`. */
import type { HistoryStore, SlotRun } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import { NOBODY } from './run-rows.ts'

const fieldsOf = ({ readiness, finishedAt }: { readiness: string; finishedAt: string }): string => `
  scheduled_at, id, json_object('id', id, 'scheduledAt', scheduled_at, 'dueAt', due_at, 'state', state, 'trigger', trigger,
    'readiness', ${readiness}, 'queue', queue, 'revision', coalesce(schedule_revision, 0), 'attempt', attempt,
    'workerId', nullif(worker_id, '${NOBODY}'), 'startedAt', started_at, 'finishedAt', ${finishedAt}) as slot`
const LIVE = fieldsOf({ readiness: 'readiness', finishedAt: 'null' })
const FINISHED = fieldsOf({ readiness: `'ready'`, finishedAt: 'finished_at' })
const newest = (which: string): string =>
  `where schedule_id = ? and scheduled_at is not null ${which} order by scheduled_at desc limit ?`

// Each part by an index of its own. One statement, so that a run on its way to history is never missed.
export const LATEST = `
  select slot from (
    select * from (select ${LIVE} from everytick_runs ${newest(`and trigger <> 'backfill'`)})
    union all
    select * from (select ${LIVE} from everytick_runs ${newest(`and trigger = 'backfill'`)})
    union all
    select * from (select ${FINISHED} from everytick_history ${newest('')}))
  order by scheduled_at desc, id desc limit ?`

const newestAt = (table: string, which: string): string => `
    select * from (select scheduled_at as at from ${table} where schedule_id = ? and scheduled_at <= ? ${which}
      order by scheduled_at desc limit 1)`

/** Each part by an index of its own, of which it reads one entry. */
export const LAST_FIRED = `
  select max(at) as at from (
    ${newestAt('everytick_runs', `and trigger <> 'backfill'`)}
    union all ${newestAt('everytick_runs', `and trigger = 'backfill'`)}
    union all ${newestAt('everytick_history', '')}
    union all ${newestAt('everytick_deleted_runs', '')})`

export async function lastFired(
  connection: Connection,
  scheduleIds: readonly string[],
  untilAt: number,
): ReturnType<HistoryStore['lastFired']> {
  const found = new Map<string, number>()
  const ids = [...new Set(scheduleIds)]
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    await connection.read(() => {
      for (const id of ids.slice(from, from + AT_ONCE)) {
        const part = [id, untilAt]
        const at = connection.all<{ at: number | null }>(LAST_FIRED, ...part, ...part, ...part, ...part)[0]?.at ?? null
        if (at !== null) found.set(id, at)
      }
    })
  }
  return found
}

/** So many schedules are read in one go, a few milliseconds of work. */
const AT_ONCE = 50

export async function latest(
  connection: Connection,
  scheduleIds: readonly string[],
  each: number,
): ReturnType<HistoryStore['latest']> {
  const found = new Map<string, SlotRun[]>()
  const ids = [...new Set(scheduleIds)]
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    await connection.read(() => {
      for (const id of ids.slice(from, from + AT_ONCE)) {
        const rows = connection.all<{ slot: string }>(LATEST, ...[id, each], ...[id, each], ...[id, each], each)
        if (rows.length > 0)
          found.set(
            id,
            rows.map(({ slot }) => JSON.parse(slot) as SlotRun),
          )
      }
    })
  }
  return found
}
