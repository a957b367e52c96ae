/** The first schema: schedules with their cursors, live runs, history and journal by day, and the small tables around them. */

/**
 * `{schema}` stands for the quoted name of the schema. Three choices run through it:
 * - Names are compared byte by byte, so that pages have one order whatever the database's locale.
 * - Every clock reading is `now_at()`: whole milliseconds, since a JavaScript instant has no more.
 * - Hot tables keep a few hundred pages for ever (`vacuum_truncate` off, after a first filling). The planner looks at the
 *   number of pages; it must never find a hot table so small that reading all of it looks cheaper than an index, because a
 *   prepared statement keeps that choice while the table grows a thousandfold.
 */
export const CORE = `
create table {schema}.migrations (
  version integer primary key,
  name text not null,
  applied_at timestamptz(3) not null
);

create function {schema}.now_at() returns timestamptz language sql volatile parallel safe
as $$ select date_trunc('milliseconds', clock_timestamp()) $$;

create table {schema}.schedules (
  id uuid primary key,
  workspace text collate "C" not null,
  key text collate "C" not null,
  revision integer not null,
  timing jsonb not null,
  job text not null,
  queue text collate "C" not null,
  payload jsonb not null,
  priority smallint not null check (priority between 0 and 9),
  policy jsonb not null,
  catch_up jsonb not null,
  description text not null,
  tags jsonb not null,
  metadata jsonb not null,
  source text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  pause jsonb,
  quarantine jsonb,
  unique (workspace, key)
) with (fillfactor = 10, vacuum_truncate = off, autovacuum_analyze_scale_factor = 0.02);

create index schedules_source on {schema}.schedules (source, workspace, key) where source <> 'api';

create table {schema}.cursors (
  schedule_id uuid primary key,
  next_at timestamptz(3),
  watermark_at timestamptz(3) not null,
  planned_at timestamptz(3) not null,
  revision integer not null
) with (
  fillfactor = 10, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
create index cursors_due on {schema}.cursors (next_at) where next_at is not null;

create table {schema}.runs (
  id uuid primary key,
  workspace text collate "C" not null,
  job text not null,
  queue text collate "C" not null,
  state text not null check (state in ('pending', 'running')),
  trigger text not null,
  priority smallint not null check (priority between 0 and 9),
  schedule_id uuid,
  schedule_key text,
  schedule_revision integer,
  scheduled_at timestamptz(3),
  slot_start_at timestamptz(3),
  due_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  payload jsonb not null,
  policy jsonb not null,
  attempt integer not null check (attempt >= 0),
  fence bigint not null check (fence >= attempt),
  worker_id text,
  lease_until timestamptz(3),
  started_at timestamptz(3),
  cancel_requested boolean not null,
  idempotency_key text,
  progress jsonb,
  error jsonb,
  constraint runs_held check (
    (state = 'running') = (worker_id is not null)
    and (state = 'running') = (lease_until is not null)
    and (state <> 'running' or started_at is not null)
  ),
  constraint runs_planned check (scheduled_at is null or schedule_id is not null)
) with (
  fillfactor = 10, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2
);
create index runs_pending on {schema}.runs (queue, priority, due_at) where state = 'pending';
create index runs_lease on {schema}.runs (lease_until) where state = 'running';
create unique index runs_occurrence on {schema}.runs (schedule_id, scheduled_at) where scheduled_at is not null;

insert into {schema}.schedules
select gen_random_uuid(), '', n::text, 1, '{}', '', '', '{}', 0, '{}', '{}', '', '[]', '{}', 'code',
  {schema}.now_at(), {schema}.now_at(), null, null
from generate_series(1, 1200) n;
insert into {schema}.cursors select gen_random_uuid(), null, {schema}.now_at(), {schema}.now_at(), 1 from generate_series(1, 3000) n;
insert into {schema}.runs
select gen_random_uuid(), '', '', '', 'pending', 'enqueue', 0, null, null, null, null, null,
  {schema}.now_at(), {schema}.now_at(), '{}', '{}', 0, 0, null, null, null, false, null, null, null
from generate_series(1, 1500) n;
delete from {schema}.schedules;
delete from {schema}.cursors;
delete from {schema}.runs;
alter table {schema}.schedules set (fillfactor = 90);
alter table {schema}.cursors set (fillfactor = 80);
alter table {schema}.runs set (fillfactor = 70);

create table {schema}.history (
  id uuid not null,
  workspace text collate "C" not null,
  job text not null,
  queue text collate "C" not null,
  state text not null check (state in ('succeeded', 'failed', 'cancelled', 'skipped', 'missed')),
  trigger text not null,
  priority smallint not null,
  schedule_id uuid,
  schedule_key text,
  schedule_revision integer,
  scheduled_at timestamptz(3),
  slot_start_at timestamptz(3),
  due_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  payload jsonb not null,
  policy jsonb not null,
  attempt integer not null,
  fence bigint not null,
  worker_id text,
  lease_until timestamptz(3),
  started_at timestamptz(3),
  cancel_requested boolean not null,
  idempotency_key text,
  progress jsonb,
  error jsonb,
  finished_at timestamptz(3) not null,
  result jsonb not null
) partition by range (finished_at);
create index history_id on {schema}.history (id);
create index history_schedule on {schema}.history (schedule_id, scheduled_at) where schedule_id is not null;
create index history_created on {schema}.history (created_at, id);
create table {schema}.history_default partition of {schema}.history default;
create index history_default_finished on {schema}.history_default (finished_at);

create sequence {schema}.journal_id;
create table {schema}.journal (
  id bigint not null default nextval('{schema}.journal_id'),
  at timestamptz(3) not null,
  kind text not null,
  run_id uuid,
  schedule_id uuid,
  data jsonb not null
) partition by range (at);
create index journal_run on {schema}.journal (run_id) where run_id is not null;
create index journal_schedule on {schema}.journal (schedule_id) where schedule_id is not null;
create table {schema}.journal_default partition of {schema}.journal default;
create index journal_default_at on {schema}.journal_default (at);

create table {schema}.non_runs (
  schedule_id uuid not null,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null,
  count bigint not null,
  state text not null check (state in ('skipped', 'missed')),
  reason text not null,
  recorded_at timestamptz(3) not null
);
create index non_runs_schedule on {schema}.non_runs (schedule_id, from_at);
create index non_runs_recorded on {schema}.non_runs (recorded_at);

create table {schema}.idempotency (
  workspace text collate "C" not null,
  key text collate "C" not null,
  run_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (workspace, key)
);
create index idempotency_created on {schema}.idempotency (created_at);

create table {schema}.locks (
  name text primary key,
  holder text not null,
  fence bigint not null,
  lease_until timestamptz(3) not null
);

create table {schema}.workers (
  id text primary key,
  info jsonb not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null
);

-- Makes the partitions of today and of the days ahead. A table is built first and attached then, because that locks the
-- parent less. A day that already has rows in the default partition stays there.
create function {schema}.make_partitions(parent text, days integer) returns integer language plpgsql as $$
declare
  today date := ({schema}.now_at() at time zone 'UTC')::date;
  part text;
  made integer := 0;
begin
  for ahead in 0..days loop
    part := parent || to_char(today + ahead, '"_"YYYYMMDD');
    continue when to_regclass(format('{schema}.%I', part)) is not null;
    begin
      execute format('create table {schema}.%I (like {schema}.%I including defaults including constraints)', part, parent);
      execute format(
        'alter table {schema}.%I attach partition {schema}.%I for values from (%L) to (%L)', parent, part,
        to_char(today + ahead, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(today + ahead + 1, 'YYYY-MM-DD') || ' 00:00:00+00'
      );
      made := made + 1;
    exception when check_violation or duplicate_table or unique_violation then null;
    end;
  end loop;
  return made;
end $$;
select {schema}.make_partitions('history', 7), {schema}.make_partitions('journal', 7);
`
