/** The second schema: lanes, limits and fair turns for runs; revisions of schedules; backfills; the builds of apps. */

export const policies = {
  version: 2,
  name: 'policies',
  sql: `
alter table everytick_schedules add column firing text not null
  default '{"overlap":"skip","jitter":null,"maxRuns":null,"concurrencyKey":null}';
alter table everytick_schedules add column created_by text not null default 'api';
alter table everytick_schedules add column updated_by text not null default 'api';
alter table everytick_schedules add column since_at integer not null default 0;
update everytick_schedules set since_at = created_at;
create index everytick_schedules_orphans on everytick_schedules (pause ->> 'at') where pause ->> 'by' = 'sync';

alter table everytick_cursors add column made integer not null default 0;

-- A lane is what one run at a time may be open in: a schedule, or a concurrency key.
alter table everytick_runs add column lane text;
alter table everytick_runs add column overlap text not null default 'allow'
  check (overlap in ('skip', 'queue', 'queue_one', 'cancel_previous', 'allow'));
alter table everytick_runs add column gate text not null default 'open'
  check (gate in ('open', 'closed', 'waiting') and (lane is not null or (gate = 'open' and overlap = 'allow'))
    and (state <> 'running' or gate = 'open'));
drop index everytick_runs_pending;
create index everytick_runs_pending on everytick_runs (queue, priority, due_at) where state = 'pending' and gate = 'open';
create index everytick_runs_turn on everytick_runs (queue, workspace, priority, due_at) where state = 'pending' and gate = 'open';
create unique index everytick_runs_lane on everytick_runs (lane) where lane is not null and gate = 'open';
create index everytick_runs_gated on everytick_runs (lane, coalesce(scheduled_at, due_at), id) where gate <> 'open';
create index everytick_runs_closed on everytick_runs (lane, due_at) where gate = 'closed';
-- With what is counted for limits, so that counting reads no row.
drop index everytick_runs_lease;
create index everytick_runs_lease on everytick_runs (lease_until, queue, workspace) where state = 'running';
drop index everytick_runs_occurrence;
create unique index everytick_runs_occurrence on everytick_runs (schedule_id, scheduled_at)
  where scheduled_at is not null and trigger <> 'backfill';
create index everytick_runs_backfill on everytick_runs (schedule_id, scheduled_at) where trigger = 'backfill';

alter table everytick_history add column lane text;
alter table everytick_history add column overlap text not null default 'allow';
create index everytick_history_slot on everytick_history (schedule_id, scheduled_at) where scheduled_at is not null;

alter table everytick_non_runs add column detail text not null default '';
drop index everytick_non_runs_schedule;
create index everytick_non_runs_schedule on everytick_non_runs (schedule_id, to_at);

create table everytick_revisions (
  id integer primary key,
  schedule_id text not null,
  workspace text not null,
  key text not null,
  kind text not null check (kind in ('edited', 'paused', 'resumed', 'removed')),
  revision integer not null,
  at integer not null,
  by text not null,
  cut_at integer not null,
  before text not null,
  after text not null
) strict;
create index everytick_revisions_schedule on everytick_revisions (schedule_id, id);
create index everytick_revisions_at on everytick_revisions (at);

create table everytick_queues (
  name text not null primary key,
  limits text not null default '{}',
  pause text,
  rate_log text not null default '[]'
) strict, without rowid;

create table everytick_backfills (
  id text not null primary key,
  schedule_id text not null,
  workspace text not null,
  key text not null,
  by text not null,
  from_at integer not null,
  to_at integer not null,
  concurrency integer not null,
  force integer not null,
  payload text not null,
  total integer not null,
  progress text not null,
  state text not null check (state in ('running', 'done', 'cancelled')),
  created_at integer not null,
  finished_at integer,
  version integer not null
) strict;
create index everytick_backfills_running on everytick_backfills (created_at) where state = 'running';
create index everytick_backfills_finished on everytick_backfills (finished_at) where finished_at is not null;
create index everytick_backfills_schedule on everytick_backfills (schedule_id, created_at);

create table everytick_apps (
  name text not null primary key,
  build real not null,
  synced_at integer not null
) strict, without rowid;
`,
} as const
