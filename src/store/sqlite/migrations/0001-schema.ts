/** The first schema, table by table; what changes it later is a migration of its own. */

/** Those of a schedule. Triggers keep them when they change or their schedule goes; whoever makes a schedule writes them, if it has any. */
const tagsOf = (row: 'new' | 'old'): string => `select value, ${row}.workspace, ${row}.key from json_each(${row}.tags)`

// Every name carries the product's own prefix: the file may be the user's, with tables of theirs in it.
export const schema = {
  version: 1,
  name: 'schema',
  sql: `
-- Schedules, and what became of their definitions.

create table everytick_schedules (
  id text not null primary key,
  workspace text not null,
  key text not null,
  revision integer not null,
  timing text not null,
  job text not null,
  queue text not null,
  payload text not null,
  -- A run of a priority that no claim looks for would be lost.
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
  firing text not null,
  created_by text not null,
  updated_by text not null,
  since_at integer not null,
  unique (workspace, key)
) strict;
create index everytick_schedules_source on everytick_schedules (source, workspace, key) where source <> 'api';
create index everytick_schedules_orphans on everytick_schedules (pause ->> 'at') where pause ->> 'by' = 'sync';
create index everytick_schedules_paused on everytick_schedules (workspace, key) where pause is not null;
create index everytick_schedules_quarantined on everytick_schedules (workspace, key) where quarantine is not null;
create index everytick_schedules_code on everytick_schedules (workspace, key) where source <> 'api';
-- For quotas. Every row fulfils the condition; it keeps all other statements from taking this index for one of theirs.
create index everytick_schedules_queue on everytick_schedules (workspace, queue) where queue || '' >= '';

-- Apart from the schedule and narrow, because it is written with every plan.
create table everytick_cursors (
  schedule_id text not null primary key,
  next_at integer,
  watermark_at integer not null,
  revision integer not null,
  run_count integer not null default 0
) strict, without rowid;
create index everytick_cursors_due on everytick_cursors (next_at) where next_at is not null;
create index everytick_cursors_ended on everytick_cursors (watermark_at, schedule_id) where next_at is null;

-- Tags in the order in which schedules are listed.
create table everytick_tags (
  tag text not null,
  workspace text not null,
  key text not null,
  primary key (tag, workspace, key)
) strict, without rowid;
create trigger everytick_schedules_retagged after update of tags on everytick_schedules when old.tags <> new.tags begin
  delete from everytick_tags where (tag, workspace, key) in (${tagsOf('old')});
  insert or ignore into everytick_tags ${tagsOf('new')};
end;
create trigger everytick_schedules_untagged after delete on everytick_schedules when old.tags <> '[]' begin
  delete from everytick_tags where (tag, workspace, key) in (${tagsOf('old')});
end;
-- For quotas, as above.
create index everytick_tags_workspace on everytick_tags (workspace, tag) where tag || '' >= '';

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
-- For quotas.
create index everytick_backfills_workspace on everytick_backfills (workspace) where state = 'running';

-- Occurrences that became no run, as ranges. A record grows, so that it knows how much of it was summed up (counted).
create table everytick_non_runs (
  schedule_id text not null,
  from_at integer not null,
  to_at integer not null,
  count integer not null,
  state text not null check (state in ('missed', 'skipped')),
  reason text not null,
  recorded_at integer not null,
  detail text not null,
  counted integer not null default 0
) strict;
create index everytick_non_runs_schedule on everytick_non_runs (schedule_id, to_at);
create index everytick_non_runs_recorded on everytick_non_runs (recorded_at);
create index everytick_non_runs_newest on everytick_non_runs (to_at, schedule_id);

-- Runs that wait or are running; what has ended is in history.

create table everytick_runs (
  id text not null primary key,
  workspace text not null,
  job text not null,
  queue text not null,
  state text not null,
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
  -- What one run at a time may be open in: a schedule, or a concurrency key.
  concurrency_group text,
  overlap text not null default 'allow',
  readiness text not null default 'ready',
  -- A fence may repeat in a file that was restored from a copy; a random id tells the claims apart.
  claim_id text,
  -- Few and short, because each write of a run pays for them. A run that was handed over has a worker without a name.
  constraint everytick_runs_state check (case state
    when 'pending' then worker_id is null and lease_until is null
    when 'running' then worker_id is not null and lease_until is not null and started_at is not null and readiness = 'ready'
    else false
  end),
  constraint everytick_runs_counts check (attempt >= 0 and fence >= attempt),
  constraint everytick_runs_planned check (scheduled_at is null or schedule_id is not null),
  constraint everytick_runs_in_group check (case when concurrency_group is null
    then readiness = 'ready' and overlap = 'allow'
    else readiness in ('ready', 'undecided', 'blocked') and overlap in ('skip', 'queue', 'queue_one', 'cancel_previous', 'allow')
  end)
) strict;
create index everytick_runs_pending on everytick_runs (queue, priority, due_at) where state = 'pending' and readiness = 'ready';
create index everytick_runs_fair on everytick_runs (queue, workspace, priority, due_at) where state = 'pending' and readiness = 'ready';
-- With what is counted for limits, so that counting reads no row.
create index everytick_runs_lease on everytick_runs (lease_until, queue, workspace) where state = 'running';
create unique index everytick_runs_occurrence on everytick_runs (schedule_id, scheduled_at)
  where scheduled_at is not null and trigger <> 'backfill';
create index everytick_runs_backfill on everytick_runs (schedule_id, scheduled_at) where trigger = 'backfill';
create unique index everytick_runs_group on everytick_runs (concurrency_group) where concurrency_group is not null and readiness = 'ready';
create index everytick_runs_blocked on everytick_runs (concurrency_group, coalesce(scheduled_at, due_at), id) where readiness <> 'ready';
create index everytick_runs_undecided on everytick_runs (concurrency_group, due_at) where readiness = 'undecided';
-- For quotas, as above.
create index everytick_runs_workspace on everytick_runs (workspace, queue) where queue || '' >= '';

-- Workers claim ahead. Of a claim whose worker died, the runs beyond begun were never started. Claims that begin all of their
-- runs at once have no row.
create table everytick_claims (
  id text not null primary key,
  begun integer not null check (begun >= 0),
  ids text not null check (json_valid(ids)),
  claimed_at integer not null
) strict, without rowid;
create index everytick_claims_age on everytick_claims (claimed_at);

create table everytick_idempotency (
  workspace text not null,
  key text not null,
  run_id text not null,
  created_at integer not null,
  primary key (workspace, key)
) strict, without rowid;
create index everytick_idempotency_created on everytick_idempotency (created_at);

create table everytick_queues (
  name text not null primary key,
  limits text not null default '{}',
  pause text,
  rate_log text not null default '[]'
) strict, without rowid;

-- What ended, and what happened.

-- Ids begin with an instant, so that their index serves for pages too.
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
  result text,
  concurrency_group text,
  overlap text not null default 'allow'
) strict;
create index everytick_history_finished on everytick_history (finished_at);
create index everytick_history_schedule on everytick_history (schedule_id, id) where schedule_id is not null;
create index everytick_history_slot on everytick_history (schedule_id, scheduled_at) where scheduled_at is not null;
-- Few runs end otherwise than well, and they are looked for often.
create index everytick_history_unsuccessful on everytick_history (id) where state <> 'succeeded';
create index everytick_history_unsuccessful_at on everytick_history (finished_at) where state <> 'succeeded';

-- What answers for the occurrences of finished runs that people deleted.
create table everytick_deleted_runs (
  id text not null primary key,
  schedule_id text not null,
  schedule_revision integer,
  scheduled_at integer not null,
  due_at integer not null,
  state text not null check (state in ('succeeded', 'failed', 'cancelled')),
  trigger text not null,
  queue text not null,
  attempt integer not null,
  worker_id text,
  started_at integer,
  finished_at integer not null,
  deleted_at integer not null,
  deleted_by text not null
) strict;
create index everytick_deleted_runs_slot on everytick_deleted_runs (schedule_id, scheduled_at);
create index everytick_deleted_runs_deleted on everytick_deleted_runs (deleted_at);

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
create index everytick_journal_unknown_job on everytick_journal (at) where kind = 'unknown_job';
create index everytick_journal_retrying on everytick_journal (at)
  where kind in ('retry', 'lost', 'timed_out', 'postponed') and schedule_id is not null;

-- Counts on when all of it was forgotten: a reader that goes on from a number must not miss what comes.
create table everytick_logs (
  seq integer primary key autoincrement,
  stored_at integer not null,
  run_id text not null,
  attempt integer not null,
  at integer not null,
  level text not null,
  message text not null,
  data text
) strict;
create index everytick_logs_run on everytick_logs (run_id, seq);
create index everytick_logs_stored on everytick_logs (stored_at);

-- Sums of what has ended, by five minutes.
create table everytick_stats (
  scope text not null,
  bucket_at integer not null,
  data text not null,
  primary key (scope, bucket_at)
) strict, without rowid;
create index everytick_stats_bucket on everytick_stats (bucket_at);

-- Processes, and what the server keeps.

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
  seen_at integer not null,
  draining integer not null default 0 check (draining in (0, 1))
) strict, without rowid;

create table everytick_apps (
  name text not null primary key,
  build real not null,
  synced_at integer not null
) strict, without rowid;

create table everytick_documents (
  kind text not null,
  id text not null,
  workspace text not null,
  state text not null,
  data text not null,
  version integer not null,
  created_at integer not null,
  updated_at integer not null,
  expires_at integer,
  primary key (kind, id)
) strict;
create index everytick_documents_state on everytick_documents (kind, state, id);
create index everytick_documents_workspace on everytick_documents (kind, workspace, id);
create index everytick_documents_updated on everytick_documents (kind, updated_at);
create index everytick_documents_expires on everytick_documents (expires_at) where expires_at is not null;

create table everytick_audit_log (
  seq integer primary key,
  at integer not null,
  workspace text not null,
  actor text not null,
  action text not null,
  target text not null,
  before text not null,
  after text not null,
  origin text not null,
  previous_hash text not null,
  hash text not null
) strict;
create index everytick_audit_log_workspace on everytick_audit_log (workspace, seq);
create index everytick_audit_log_at on everytick_audit_log (at);
`,
} as const
