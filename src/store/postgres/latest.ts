/** The newest runs of many schedules at once, in Postgres, by their nominal instants; those of one span are `ledger.ts`. */
import type { HistoryStore, SlotRun } from '../contract/history.ts'
import type { Connection } from './connection.ts'
import { instantAt, isId, msOf, NOBODY } from './rows.ts'
import { plain, prepared, type Statement } from './statement.ts'

interface LatestRow extends SlotRun {
  schedule_id: string
}

export function createLatest(connection: Connection, schema: string): Pick<HistoryStore, 'latest' | 'lastFired'> {
  const [latest, lastFired] = [latestStatement(schema), lastFiredStatement(schema)]
  return {
    async latest(scheduleIds, each) {
      const ids = [...new Set(scheduleIds.filter(isId))]
      const found = new Map<string, SlotRun[]>()
      if (ids.length === 0) return found
      for (const { schedule_id: id, ...run } of await connection.api.ask<LatestRow>(latest, [plain(ids), each])) {
        const runs = found.get(id)
        if (runs) runs.push(run)
        else found.set(id, [run])
      }
      return found
    },
    async lastFired(scheduleIds, untilAt) {
      const ids = [...new Set(scheduleIds.filter(isId))]
      if (ids.length === 0) return new Map()
      const rows = await connection.api.ask<{ id: string; at: number }>(lastFired, [plain(ids), untilAt])
      return new Map(rows.map(({ id, at }) => [id, at]))
    },
  }
}

const fieldsOf = (of: string): string =>
  `${of}.id, ${of}.state, ${of}.trigger, ${of}.queue, ${of}.attempt, coalesce(${of}.schedule_revision, 0) as revision,
      nullif(${of}.worker_id, '${NOBODY}') as "workerId", ${msOf(`${of}.scheduled_at`)} as "scheduledAt", ${msOf(`${of}.due_at`)} as "dueAt",
      ${msOf(`${of}.started_at`)} as "startedAt"`

/** One statement, so that a run that moves meanwhile is seen once; live ones by each of the two indexes that have them. */
export const latestStatement = (schema: string): Statement => {
  const newest = (of: string, which: string): string =>
    `where ${of}.schedule_id = wanted.id and ${of}.scheduled_at is not null ${which}
      order by ${of}.scheduled_at desc limit $2::int`
  const live = (which: string): string =>
    `(select ${fieldsOf('r')}, r.readiness, null::float8 as "finishedAt" from ${schema}.runs r ${newest('r', which)})`
  return prepared(`
select wanted.id as schedule_id, run.*
from unnest($1::text::uuid[]) with ordinality as wanted (id, place)
cross join lateral (
  ${live(`and r.trigger <> 'backfill'`)}
  union all
  ${live(`and r.trigger = 'backfill'`)}
  union all
  (select ${fieldsOf('h')}, 'ready' as readiness, ${msOf('h.finished_at')} as "finishedAt" from ${schema}.history h ${newest('h', '')})
  order by "scheduledAt" desc, id desc limit $2::int
) run
order by wanted.place, run."scheduledAt" desc, run.id desc`)
}

/** Each part by an index of its own, of which it reads one entry. */
export const lastFiredStatement = (schema: string): Statement => {
  const newest = (table: string, which: string): string => `
  (select t.scheduled_at as at from ${schema}.${table} t
    where t.schedule_id = wanted.id and t.scheduled_at <= ${instantAt('$2::float8')} ${which}
    order by t.scheduled_at desc limit 1)`
  return prepared(`
select wanted.id, ${msOf('fired.at')} as at
from unnest($1::text::uuid[]) as wanted (id)
cross join lateral (${newest('runs', `and t.trigger <> 'backfill'`)}
  union all ${newest('runs', `and t.trigger = 'backfill'`)}
  union all ${newest('history', '')}
  union all ${newest('deleted_runs', '')}
  order by at desc limit 1
) fired`)
}
