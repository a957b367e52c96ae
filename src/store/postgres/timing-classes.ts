/** Reads, from Postgres, which schedules fire alike, in one pass over the table; what they will fire is for others to compute. */
import type { Jitter, TimingSpec } from '../../schedule/schedule.ts'
import type { ScheduleStore } from '../contract/schedules.ts'
import type { Connection } from './connection.ts'
import { type Statement, unprepared } from './statement.ts'

interface ClassRow {
  timing: TimingSpec
  jitter: Jitter | null
  job: string
  count: number
  workspace: string
  key: string
}

export function createClasses(connection: Connection, schema: string): Pick<ScheduleStore, 'classes'> {
  const [all, ofOne] = [classesStatement(schema), classesStatement(schema, 's.workspace = $1::text')]
  return {
    async classes(workspace) {
      const rows = await connection.api.transact(async (ask) => {
        await ask(BY_HASH, [])
        return workspace === undefined ? ask<ClassRow>(all, []) : ask<ClassRow>(ofOne, [workspace])
      })
      return rows.map(({ workspace, key, ...uniform }) => ({ ...uniform, sample: { workspace, key } }))
    },
  }
}

/** The server takes all schedules for different, and would rather sort a million texts than hash them. */
const BY_HASH = unprepared(`select set_config('enable_sort', 'off', true)`)

/*
 * How plain intervals and single instants begin; with bounds or otherwise, only the same text is alike. Texts are compared and
 * cut, not read as JSON, which would take twice as long.
 */
const [INTERVAL, ONCE] = ['{"kind":"interval","everyMs":', '{"kind":"once","at":']
const TEXT = 's.timing::text'
const third = `split_part(${TEXT}, ':', 3)`
const [every, anchor] = [`split_part(${third}, ',', 1)::bigint`, `rtrim(split_part(${TEXT}, ':', 4), '}')::bigint`]

/** SQL for what is the same for timings that fire alike: the period and the minute of it, the minute, or all of the text. */
const uniformBy = `case
    when starts_with(${TEXT}, '${INTERVAL}') and split_part(${TEXT}, ':', 5) = ''
      then split_part(${third}, ',', 1) || ' ' || ((${anchor} % ${every} + ${every}) % ${every}) / 60000
    when starts_with(${TEXT}, '${ONCE}') and split_part(${TEXT}, ':', 4) = ''
      then 'once ' || floor(rtrim(${third}, '}')::float8 / 60000)
    else ${TEXT}
  end`

/** One grouping, which several processes of the server can share; a group has the place of one of its rows, which is then read whole. */
const classesStatement = (schema: string, which = 'true'): Statement =>
  unprepared(`
with alike as (
  select count(*) as count, min(s.ctid) as place
  from ${schema}.schedules s where s.pause is null and s.quarantine is null and ${which}
  group by s.job, case when strpos(s.firing::text, '"jitter":null') = 0 then (s.firing -> 'jitter')::text end, ${uniformBy}
)
select s.timing, s.firing -> 'jitter' as jitter, s.job, alike.count, s.workspace, s.key
from alike cross join lateral (select * from ${schema}.schedules where ctid = alike.place limit 1) s
order by s.workspace, s.key`)
