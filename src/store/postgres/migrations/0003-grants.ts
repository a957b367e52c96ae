/** The third schema: grants that touch no index, leases looked after in groups, and turns only where workspaces share a queue. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - A grant changes no column that stands in an index of `runs`, so that the new version of the row stays on its page and no
 *   index is written. A run that is held for longer leaves the queue's index when its lease is first renewed (`kept`). Pages
 *   are filled to less than a half, so that there is room for the new versions.
 * - Leases are therefore not in an index. Each claim leaves one row in `leases` that says when to look at which runs.
 * - The rules that the columns keep among themselves are held by tests; looking at ten of them with every write was a
 *   tenth of its cost. A priority that no claim looks for would be a run that is lost: that rule stays.
 */
export const GRANTS = `
alter table {schema}.runs
  drop constraint runs_state_check, drop constraint runs_attempt_check, drop constraint runs_check,
  drop constraint runs_held, drop constraint runs_planned, drop constraint runs_overlap_check,
  drop constraint runs_gate_check, drop constraint runs_gated_in_lane, drop constraint runs_open_while_running,
  add column kept boolean not null default false,
  add column turn boolean not null default true;
alter table {schema}.history drop constraint history_state_check;
alter table {schema}.runs set (fillfactor = 45);
-- Nobody asks what is in these but those who read all of it, and text is quicker to read than a tree.
alter table {schema}.schedules
  alter column timing type json using timing::text::json,
  alter column policy type json using policy::text::json,
  alter column catch_up type json using catch_up::text::json,
  alter column firing drop default,
  alter column firing type json using firing::text::json;
alter table {schema}.runs alter column policy type json using policy::text::json;
alter table {schema}.history alter column policy type json using policy::text::json;

create table {schema}.leases (
  look_at timestamptz(3) not null,
  ids uuid[] not null
) with (
  fillfactor = 10, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);
alter table {schema}.leases alter column ids set storage external;
create index leases_look on {schema}.leases (look_at);
-- Never so small that reading all of it looks cheaper than an index.
insert into {schema}.leases select {schema}.now_at(), '{}' from generate_series(1, 3000) n;
delete from {schema}.leases;
alter table {schema}.leases set (fillfactor = 90);
insert into {schema}.leases select lease_until, array[id] from {schema}.runs where state = 'running';
update {schema}.runs set kept = true where state = 'running';

drop index {schema}.runs_lease;
drop index {schema}.runs_pending;
drop index {schema}.runs_turn;
create index runs_pending on {schema}.runs (queue, priority, due_at) where gate = 'open' and not kept;
create index runs_turn on {schema}.runs (queue, workspace, priority, due_at) where gate = 'open' and not kept and turn;
create index runs_kept on {schema}.runs (queue, workspace) where kept;

-- Queues in which workspaces other than the default one have had runs: only there does anybody need a turn.
create table {schema}.shared_queues (name text collate "C" primary key);
insert into {schema}.shared_queues
select queue from {schema}.schedules where workspace <> 'default'
union select queue from {schema}.runs where workspace <> 'default'
union select name from {schema}.queues where limits ? 'perWorkspace';
`
