/** The second schema: lanes, limits and fair turns for runs; revisions of schedules; backfills; the builds of apps. */

/** `{schema}` stands for the quoted name of the schema. */
export const POLICIES = `
alter table {schema}.schedules
  add column firing jsonb not null default '{"overlap":"skip","jitter":null,"maxRuns":null,"concurrencyKey":null}',
  add column created_by text not null default 'api',
  add column updated_by text not null default 'api',
  add column since_at timestamptz(3);
update {schema}.schedules set since_at = created_at;
alter table {schema}.schedules alter column since_at set not null;
create index schedules_orphans on {schema}.schedules (updated_at) where pause ->> 'by' = 'sync';

alter table {schema}.cursors add column made integer not null default 0;

-- A lane is what one run at a time may be open in: a schedule, or a concurrency key.
alter table {schema}.runs
  add column lane text collate "C",
  add column overlap text not null default 'allow' check (overlap in ('skip', 'queue', 'queue_one', 'cancel_previous', 'allow')),
  add column gate text not null default 'open' check (gate in ('open', 'closed', 'waiting')),
  add constraint runs_gated_in_lane check (lane is not null or (gate = 'open' and overlap = 'allow')),
  add constraint runs_open_while_running check (state <> 'running' or gate = 'open');
drop index {schema}.runs_pending;
create index runs_pending on {schema}.runs (queue, priority, due_at) where state = 'pending' and gate = 'open';
create index runs_turn on {schema}.runs (queue, workspace, priority, due_at) where state = 'pending' and gate = 'open';
create unique index runs_lane on {schema}.runs (lane) where lane is not null and gate = 'open';
create index runs_gated on {schema}.runs (lane, (coalesce(scheduled_at, due_at)), id) where gate <> 'open';
create index runs_closed on {schema}.runs (due_at) where gate = 'closed';
drop index {schema}.runs_occurrence;
create unique index runs_occurrence on {schema}.runs (schedule_id, scheduled_at) where scheduled_at is not null and trigger <> 'backfill';
create index runs_backfill on {schema}.runs (schedule_id, scheduled_at) where trigger = 'backfill';

alter table {schema}.history
  add column lane text collate "C",
  add column overlap text not null default 'allow';

alter table {schema}.non_runs add column detail text not null default '';
drop index {schema}.non_runs_schedule;
create index non_runs_schedule on {schema}.non_runs (schedule_id, to_at);

create table {schema}.revisions (
  schedule_id uuid not null,
  workspace text collate "C" not null,
  key text collate "C" not null,
  kind text not null check (kind in ('edited', 'paused', 'resumed', 'removed')),
  revision integer not null,
  at timestamptz(3) not null,
  by text not null,
  cut_at timestamptz(3) not null,
  before jsonb not null,
  after jsonb not null,
  id bigint generated always as identity primary key
);
create index revisions_schedule on {schema}.revisions (schedule_id, id);
create index revisions_at on {schema}.revisions (at);

create table {schema}.queues (
  name text collate "C" primary key,
  limits jsonb not null default '{}',
  pause jsonb,
  rate_log jsonb not null default '[]'
);

create table {schema}.backfills (
  id uuid primary key,
  schedule_id uuid not null,
  workspace text collate "C" not null,
  key text collate "C" not null,
  by text not null,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null,
  concurrency integer not null,
  force boolean not null,
  payload jsonb not null,
  total bigint not null,
  progress jsonb not null,
  state text not null check (state in ('running', 'done', 'cancelled')),
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  version integer not null
);
create index backfills_running on {schema}.backfills (created_at) where state = 'running';
create index backfills_schedule on {schema}.backfills (schedule_id, created_at);

create table {schema}.apps (
  name text primary key,
  build double precision not null,
  synced_at timestamptz(3) not null
);
`
