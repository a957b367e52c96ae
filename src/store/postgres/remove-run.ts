/** The SQL that deletes one finished run with its journal and its log; what is left of it answers for its occurrence. */
import { prepared, type Statement } from './statement.ts'

const OF_SLOT = [
  ...['id', 'schedule_id', 'schedule_revision', 'scheduled_at', 'due_at', 'state', 'trigger', 'queue', 'attempt'],
  ...['worker_id', 'started_at', 'finished_at'],
].join(', ')

/**
 * Its id, and by whom. `moving`: it was brought back while this waited for it, or has just ended; the next look sees where it
 * stands.
 */
export const removeRunStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
gone as (delete from ${schema}.history where id = $1::uuid returning *),
kept as (
  insert into ${schema}.deleted_runs (${OF_SLOT}, deleted_at, deleted_by)
  select ${OF_SLOT}, clock.now, $2::text from gone cross join clock
  where schedule_id is not null and scheduled_at is not null
  on conflict (id) do nothing
),
journal as (delete from ${schema}.journal where run_id = $1::uuid and exists (select 1 from gone)),
log as (delete from ${schema}.logs where run_id = $1::uuid and exists (select 1 from gone))
select case
  when exists (select 1 from gone) then 'removed'
  when exists (select 1 from ${schema}.runs where id = $1::uuid) then 'live'
  when exists (select 1 from ${schema}.history where id = $1::uuid) then 'moving'
  else 'not_found'
end as answer`)
