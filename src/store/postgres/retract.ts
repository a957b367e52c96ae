/** Takes back what was planned ahead of schedules that change: locks them, then deletes their runs still to come; what changes is decided by the verbs. */
import { MANY, prepared, type Statement } from './statement.ts'

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
 * - `leased`, their planned runs that are due later, locked, so that none of them can be claimed any more (one that was claimed
 *   before keeps its row, and so its fence, even where the clock was set back since);
 * - `clock`, read only then: whatever was claimed before it is not later than it, so that the watermark can stand there;
 * - `gone`, what was deleted: everything held that is due later than the clock. What a backfill or a hand made is not among
 *   it: no new plan would make it again;
 * - `back`, for each schedule how many those were, and the instant just before the first: jitter may have put off what
 *   was nominally past, and then the watermark goes back behind that.
 */
export const retraction = (schema: string, of: string): string => `
held as materialized (
  select r.id, r.due_at
  from (${of}) whose cross join lateral (
    select p.id, p.due_at from ${schema}.runs p
    where p.schedule_id = whose.id and p.scheduled_at is not null and p.trigger <> 'backfill'
      and p.due_at > (select ${schema}.now_at()) and p.state = 'pending' and p.fence = 0
    order by p.scheduled_at for update
  ) r
),
clock as materialized (select case when (select count(*) from held) >= 0 then ${schema}.now_at() end as now),
gone as (
  delete from ${schema}.runs
  where id = any(array(select id from held where due_at > (select now from clock)))
  returning schedule_id, scheduled_at, slot_start_at
),
back as materialized (
  select sum.*, sum.first_at - interval '1 millisecond' as at
  from (select schedule_id, min(scheduled_at) as first_at, count(*)::int as number from gone group by schedule_id) sum ${MANY}
)`

/** SQL for the watermark of a cursor `c` after a retraction, of which `b` is its part of `back`, if any. */
export const loweredWatermark = (c: string, b: string): string =>
  `least(${c}.watermark_at, (select now from clock), ${b}.at)`
