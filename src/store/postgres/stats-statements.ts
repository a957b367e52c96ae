/** The SQL by which what has ended is grouped, and sums are kept and read, in Postgres; when and how far is `stats.ts`. */
import { DURATION_BOUNDS, LATENESS_BOUNDS, type StatsScope } from '../contract/stats.ts'
import { instantAt, msOf } from './rows.ts'
import { prepared, type Statement, unprepared } from './statement.ts'

const STRETCH = (at: string): string => `date_bin('5 minutes', ${at}, 'epoch')`
const between = (column: string): string =>
  `${column} >= ${instantAt('$1::float8')} and ${column} < ${instantAt('$2::float8')}`

/** How far it was summed up, and what time it is. */
export const scanStatement = (schema: string): Statement =>
  prepared(`
select ${msOf(`${schema}.now_at()`)} as now,
  ${msOf(`(select max(bucket_at) from ${schema}.stats where scope = 'all') + interval '5 minutes'`)} as until`)

/** Where to begin: the first row of history lies in its oldest day, since days are read in their order. */
export const oldestStatement = (schema: string): Statement =>
  unprepared(`
select ${msOf(`least(
  (select date_trunc('day', finished_at, 'UTC') from ${schema}.history limit 1),
  (select min(finished_at) from ${schema}.history_default),
  (select min(recorded_at) from ${schema}.non_runs)
)`)} as oldest`)

/** Whether a span has more than so many runs. */
export const countStatement = (schema: string): Statement =>
  unprepared(
    `select count(*) as many from (select from ${schema}.history where ${between('finished_at')} limit $3::int) looked`,
  )

/** SQL that holds for what belongs to the scope, whose name is the third parameter. */
export const inScope = (scope: StatsScope, of: string): string => {
  if (scope === 'all') return ''
  const [column] = scope.split(':', 1)
  return `and ${of}.${column} = $3::text`
}

const classOf = (span: string, bounds: readonly number[]): string =>
  // Whole milliseconds: up to a bound is less than one more.
  `width_bucket(${msOf(span)} - 1, '{${bounds.join()}}'::float8[])`

/**
 * Runs that ended in the span, counted by all that a sum tells apart. An occurrence is doubled where another run of it had ended
 * before, within a day; looking for that costs more than all the rest, and is left to when sums are made.
 */
export const endedStatement = (
  schema: string,
  { scope, doubled }: { scope: StatsScope; doubled: boolean },
): Statement => {
  const another = `h.scheduled_at is not null and h.trigger <> 'backfill' and exists (
      select from ${schema}.history p
      where p.schedule_id = h.schedule_id and p.scheduled_at = h.scheduled_at and p.trigger <> 'backfill'
        and p.finished_at >= ${instantAt('$1::float8')} - interval '1 day' and p.finished_at < ${instantAt('$2::float8')}
        and (p.finished_at, p.id) < (h.finished_at, h.id)
    )`
  return unprepared(`
select ${msOf('stretch')} as at, workspace, job, queue, state, lateness, duration, count(*) as count,
  sum(attempt) as attempts, coalesce(sum(ms), 0) as "durationMs", coalesce(max(ms), 0) as "durationMaxMs",
  greatest(coalesce(max(late_ms), 0), 0) as "latenessMaxMs", count(*) filter (where doubled) as doubled
from (
  select ${STRETCH('h.finished_at')} as stretch, h.workspace, h.job, h.queue, h.state, h.attempt,
    ${classOf('(h.started_at - h.due_at)', LATENESS_BOUNDS)} as lateness,
    ${classOf('(h.finished_at - h.started_at)', DURATION_BOUNDS)} as duration,
    ${msOf('(h.finished_at - h.started_at)')} as ms, ${msOf('(h.started_at - h.due_at)')} as late_ms,
    ${doubled ? another : 'false'} as doubled
  from ${schema}.history h where ${between('h.finished_at')} ${inScope(scope, 'h')}
) h
group by stretch, workspace, job, queue, state, lateness, duration`)
}

const PASSED = `
select ${msOf(STRETCH('n.recorded_at'))} as at, s.workspace, s.job, s.queue, n.state, sum(n.count) as count, 0 as attempts,
  0 as doubled, 0 as "durationMs", 0 as "durationMaxMs", 0 as "latenessMaxMs", null as lateness, null as duration`
const PASSED_BY = 'group by 1, s.workspace, s.job, s.queue, n.state'

/** Occurrences that became no run, as far as they were not counted yet. */
export const passedStatement = (schema: string, scope: StatsScope): Statement =>
  unprepared(`${PASSED}
from (select *, count - counted as fresh from ${schema}.non_runs where ${between('recorded_at')} and count > counted) as r
cross join lateral (select r.recorded_at, r.state, r.fresh as count) n
left join ${schema}.schedules s on s.id = r.schedule_id
where true ${inScope(scope, 's')}
${PASSED_BY}`)

/** The same, and they count as counted from now on. */
export const takenStatement = (schema: string): Statement =>
  unprepared(`
with was as materialized (
  select ctid as place, counted from ${schema}.non_runs where ${between('recorded_at')} and count > counted for update
),
taken as (
  update ${schema}.non_runs r set counted = r.count from was
  where r.ctid = any(array(select place from was)) and r.ctid = was.place
  returning r.schedule_id, r.recorded_at, r.state, r.count - was.counted as count
)
${PASSED} from taken n left join ${schema}.schedules s on s.id = n.schedule_id ${PASSED_BY}`)

export const writeStatement = (schema: string): Statement =>
  prepared(`
insert into ${schema}.stats (scope, bucket_at, data)
select x.scope, ${instantAt('x.at')}, x.data::json
from unnest($1::text::text[], $2::text::float8[], $3::text::text[]) as x (scope, at, data)
on conflict (scope, bucket_at) do update set data = excluded.data`)

export const readStatement = (schema: string): Statement =>
  prepared(`
select ${msOf('bucket_at')} as at, data from ${schema}.stats
where scope = $3::text and ${between('bucket_at')}
order by bucket_at`)
