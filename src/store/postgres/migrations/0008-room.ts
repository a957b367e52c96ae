/** The eighth schema: the tables of the working path have room again, so that the planner never sees one that an index is not worth. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - The first schema filled the hot tables once, so that no statement is ever planned for a table of no pages: such a plan reads
 *   all of it, and a prepared statement keeps it while the table grows. The third changed the type of a column, which wrote
 *   runs and schedules anew, and without their room. Non-runs never had any.
 */
export const ROOM = `
alter table {schema}.runs set (fillfactor = 10);
insert into {schema}.runs (id, workspace, job, queue, state, trigger, priority, due_at, created_at, payload, policy, attempt, fence,
  cancel_requested)
select gen_random_uuid(), '', '', '', 'pending', 'enqueue', 0, {schema}.now_at(), {schema}.now_at(), '{}', '{}', 0, 0, false
from generate_series(1, 1500) n;
delete from {schema}.runs where workspace = '';
alter table {schema}.runs set (fillfactor = 45);

alter table {schema}.schedules set (fillfactor = 10);
insert into {schema}.schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up, firing,
  description, tags, metadata, source, created_at, updated_at, since_at)
select gen_random_uuid(), '', n::text, 1, '{}', '', '', '{}', 0, '{}', '{}', '{}', '', '[]', '{}', 'api',
  {schema}.now_at(), {schema}.now_at(), {schema}.now_at()
from generate_series(1, 1200) n;
delete from {schema}.schedules where workspace = '';
alter table {schema}.schedules set (fillfactor = 90);

alter table {schema}.non_runs set (fillfactor = 10, vacuum_truncate = off);
insert into {schema}.non_runs (schedule_id, from_at, to_at, count, state, reason, recorded_at)
select '00000000-0000-0000-0000-000000000000', {schema}.now_at(), {schema}.now_at(), 0, 'skipped', '', {schema}.now_at()
from generate_series(1, 3000) n;
delete from {schema}.non_runs where schedule_id = '00000000-0000-0000-0000-000000000000';
alter table {schema}.non_runs set (fillfactor = 90);
`
