/** The first schema: schedules with their cursors, live runs, history, and what is kept beside them. */

// Every name carries the product's own prefix: the file may be the user's, with tables of theirs in it.
export const start = {
  version: 1,
  name: 'start',
  sql: `
create table everytick_schedules (
  id text not null primary key,
  workspace text not null,
  key text not null,
  revision integer not null,
  timing text not null,
  job text not null,
  queue text not null,
  payload text not null,
  priority integer not null check (priority between 0 and 9),
  policy text not null,
  catch_up text not null,
  description text not null,
  tags text not null,
  metadata text not null,
  source text not null,
  created_at integer not null,
  updated_at integer not null,
  pause text,
  quarantine text,
  unique (workspace, key)
) strict;
create index everytick_schedules_source on everytick_schedules (source, workspace, key) where source <> 'api';

-- Apart from the schedule and narrow, because it is written with every plan.
create table everytick_cursors (
  schedule_id text not null primary key,
  next_at integer,
  watermark_at integer not null,
  revision integer not null
) strict, without rowid;
create index everytick_cursors_due on everytick_cursors (next_at) where next_at is not null;

-- Only what is still to be done; a finished run moves to history.
create table everytick_runs (
  id text not null primary key,
  workspace text not null,
  job text not null,
  queue text not null,
  state text not null check (state in ('pending', 'running')),
  trigger text not null,
  priority integer not null check (priority between 0 and 9),
  schedule_id text,
  schedule_key text,
  schedule_revision integer,
  scheduled_at integer,
  slot_start_at integer,
  due_at integer not null,
  created_at integer not null,
  payload text not null,
  policy text not null,
  attempt integer not null default 0,
  fence integer not null default 0,
  worker_id text,
  lease_until integer,
  started_at integer,
  cancel_requested integer not null default 0 check (cancel_requested in (0, 1)),
  idempotency_key text,
  progress text,
  error text,
  check ((state = 'running') = (worker_id is not null)),
  check ((state = 'running') = (lease_until is not null))
) strict;
create index everytick_runs_pending on everytick_runs (queue, priority, due_at) where state = 'pending';
create index everytick_runs_lease on everytick_runs (lease_until) where state = 'running';
create unique index everytick_runs_occurrence on everytick_runs (schedule_id, scheduled_at) where scheduled_at is not null;

create table everytick_history (
  id text not null primary key,
  workspace text not null,
  job text not null,
  queue text not null,
  state text not null check (state in ('succeeded', 'failed', 'cancelled')),
  trigger text not null,
  priority integer not null,
  schedule_id text,
  schedule_key text,
  schedule_revision integer,
  scheduled_at integer,
  slot_start_at integer,
  due_at integer not null,
  created_at integer not null,
  payload text not null,
  policy text not null,
  attempt integer not null,
  fence integer not null,
  worker_id text,
  started_at integer,
  finished_at integer not null,
  cancel_requested integer not null,
  idempotency_key text,
  progress text,
  error text,
  result text
) strict;
create index everytick_history_finished on everytick_history (finished_at);
create index everytick_history_created on everytick_history (created_at, id);
create index everytick_history_schedule on everytick_history (schedule_id, created_at, id) where schedule_id is not null;
-- Failures are few and looked for often.
create index everytick_history_unsuccessful on everytick_history (created_at, id) where state <> 'succeeded';

create table everytick_non_runs (
  schedule_id text not null,
  from_at integer not null,
  to_at integer not null,
  count integer not null,
  state text not null check (state in ('missed', 'skipped')),
  reason text not null,
  recorded_at integer not null
) strict;
create index everytick_non_runs_schedule on everytick_non_runs (schedule_id, from_at);
create index everytick_non_runs_recorded on everytick_non_runs (recorded_at);

create table everytick_journal (
  id integer primary key,
  at integer not null,
  kind text not null,
  run_id text,
  schedule_id text,
  data text not null
) strict;
create index everytick_journal_run on everytick_journal (run_id) where run_id is not null;
create index everytick_journal_schedule on everytick_journal (schedule_id) where schedule_id is not null;
create index everytick_journal_at on everytick_journal (at);

create table everytick_idempotency (
  workspace text not null,
  key text not null,
  run_id text not null,
  created_at integer not null,
  primary key (workspace, key)
) strict, without rowid;
create index everytick_idempotency_created on everytick_idempotency (created_at);

create table everytick_locks (
  name text not null primary key,
  holder text not null,
  fence integer not null,
  lease_until integer not null
) strict, without rowid;

create table everytick_workers (
  id text not null primary key,
  info text not null,
  started_at integer not null,
  seen_at integer not null
) strict, without rowid;
`,
} as const
