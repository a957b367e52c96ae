/** Takes back what was planned ahead of schedules that change: locks them, then deletes their runs still to come; what changes is decided by the verbs. */
import { stateOf } from './rows.ts'
import { prepared, type Statement } from './statement.ts'

/**
 * The first of two statements in one transaction: locks schedules and then cursors, and answers which were there. Only
 * the second may look at runs, because only its snapshot is sure to show those of a planner that held a cursor until now.
 * Keys come in order, so that two such batches cannot wait for each other in a circle.
 */
export const lockStatement = (schema: string): Statement =>
  prepared(`
select s.id from unnest($1::text::text[], $2::text::text[]) as k (workspace, key)
cross join lateral (
  select id from ${schema}.schedules where workspace = k.workspace and key = k.key limit 1 for update
) s
cross join lateral (select 1 from ${schema}.cursors where schedule_id = s.id limit 1 for update) c`)

/** The same for everything in a workspace. */
export const lockWorkspaceStatement = (schema: string): Statement =>
  prepared(`
select s.id
from (select id from ${schema}.schedules where workspace = $1::text order by key for update) s
cross join lateral (select 1 from ${schema}.cursors where schedule_id = s.id limit 1 for update) c`)

/**
 * Parts of the second statement. `of` is a query for the ids of the schedules. Answers, as tables:
 * - `held`, their pending runs still to come, locked, so that none of them can be granted any more (one that was granted
 *   before keeps its row, and so its fence, even where the clock was set back since);
 * - `clock`, read only then: whatever was granted before it is not later than it, so that the watermark can stand there;
 * - `gone`, what was deleted: everything held that is later than the clock.
 */
export const retraction = (schema: string, of: string): string => `
held as materialized (
  select r.id, r.scheduled_at
  from (${of}) whose cross join lateral (
    select p.id, p.scheduled_at from ${schema}.runs p
    where p.schedule_id = whose.id and p.scheduled_at > (select ${schema}.now_at()) and ${stateOf('p')} = 'pending' and p.fence = 0
    order by p.scheduled_at for update
  ) r
),
clock as materialized (select case when (select count(*) from held) >= 0 then ${schema}.now_at() end as now),
gone as (
  delete from ${schema}.runs
  where id = any(array(select id from held where scheduled_at > (select now from clock)))
  returning schedule_id, scheduled_at
)`
