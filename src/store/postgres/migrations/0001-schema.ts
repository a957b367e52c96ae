/** The first schema, table by table; what changes it later is a migration of its own. */

/**
 * `{schema}` stands for the quoted name of the schema. Choices that run through all of it:
 * - Names are compared byte by byte, so that pages have one order whatever the locale of the database.
 * - Every clock reading is `now_at()`: whole milliseconds, since a JavaScript instant has no more.
 * - What users wrote is `json` where it is only ever read as a whole: text is quicker to read than a tree.
 * - Tables of the working path keep the pages that they have had (`vacuum_truncate` off): the planner of the server looks at the
 *   number of pages, and what was full once will be full again.
 * - History, journal and logs are partitioned by day (UTC), so that forgetting is dropping a table.
 */
export const SCHEMA = `
create table {schema}.migrations (
  version integer primary key,
  name text not null,
  applied_at timestamptz(3) not null
);

create function {schema}.now_at() returns timestamptz language sql volatile parallel safe
as $$ select date_trunc('milliseconds', clock_timestamp()) $$;

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

-- Schedules, and what became of their definitions.

create table {schema}.schedules (
  id uuid primary key,
  workspace text collate "C" not null,
  key text collate "C" not null,
  revision integer not null,
  timing json not null,
  job text not null,
  queue text collate "C" not null,
  payload jsonb not null,
  -- A run of a priority that no claim looks for would be lost.
  priority smallint not null check (priority between 0 and 9),
  policy json not null,
  catch_up json not null,
  description text not null,
  tags jsonb not null,
  metadata jsonb not null,
  source text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  pause jsonb,
  quarantine jsonb,
  firing json not null,
  created_by text not null,
  updated_by text not null,
  since_at timestamptz(3) not null,
  unique (workspace, key)
) with (fillfactor = 90, vacuum_truncate = off, autovacuum_analyze_scale_factor = 0.02);
create index schedules_source on {schema}.schedules (source, workspace, key) where source <> 'api';
create index schedules_orphans on {schema}.schedules (updated_at) where pause ->> 'by' = 'sync';
create index schedules_paused on {schema}.schedules (workspace, key) where pause is not null;
create index schedules_quarantined on {schema}.schedules (workspace, key) where quarantine is not null;
create index schedules_code on {schema}.schedules (workspace, key) where source <> 'api';
-- For quotas. Every row fulfils the condition; it keeps all other statements from taking this index for one of theirs.
create index schedules_queue on {schema}.schedules (workspace, queue) where queue || '' >= '';

-- Apart from the schedule and narrow, because every fire moves a cursor and writes a new version of its row.
create table {schema}.cursors (
  schedule_id uuid primary key,
  next_at timestamptz(3),
  watermark_at timestamptz(3) not null,
  planned_at timestamptz(3) not null,
  revision integer not null,
  run_count integer not null default 0
) with (
  fillfactor = 80, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
create index cursors_due on {schema}.cursors (next_at) where next_at is not null;
create index cursors_ended on {schema}.cursors (watermark_at, schedule_id) where next_at is null;

-- Tags in the order in which schedules are listed. Triggers keep them: a schedule without tags costs nothing but the look
-- that it has none. A long tag is cut here, and looked at in the schedule itself.
create table {schema}.tags (
  tag text collate "C" not null,
  workspace text collate "C" not null,
  key text collate "C" not null,
  primary key (tag, workspace, key)
);
-- For quotas, as above.
create index tags_workspace on {schema}.tags (workspace, tag) where tag || '' >= '';

create function {schema}.tag_schedule() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from {schema}.tags t using jsonb_array_elements_text(old.tags) as was (tag)
    where t.tag = left(was.tag, 100) and t.workspace = old.workspace and t.key = old.key;
  end if;
  if tg_op <> 'DELETE' then
    insert into {schema}.tags
    select left(t.tag, 100), new.workspace, new.key from jsonb_array_elements_text(new.tags) as t (tag)
    on conflict do nothing;
  end if;
  return null;
end $$;
create trigger schedules_tagged after insert on {schema}.schedules
for each row when (new.tags <> '[]') execute function {schema}.tag_schedule();
create trigger schedules_retagged after update of tags on {schema}.schedules
for each row when (old.tags <> new.tags) execute function {schema}.tag_schedule();
create trigger schedules_untagged after delete on {schema}.schedules
for each row when (old.tags <> '[]') execute function {schema}.tag_schedule();

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
-- For quotas.
create index backfills_workspace on {schema}.backfills (workspace) where state = 'running';

-- Occurrences that became no run, as ranges. A record grows, so that it knows how much of it was summed up (\`counted\`).
create table {schema}.non_runs (
  schedule_id uuid not null,
  from_at timestamptz(3) not null,
  to_at timestamptz(3) not null,
  count bigint not null,
  state text not null check (state in ('skipped', 'missed')),
  reason text not null,
  recorded_at timestamptz(3) not null,
  detail text not null,
  counted bigint not null default 0
) with (fillfactor = 90, vacuum_truncate = off);
create index non_runs_schedule on {schema}.non_runs (schedule_id, to_at);
create index non_runs_recorded on {schema}.non_runs (recorded_at);
create index non_runs_newest on {schema}.non_runs (to_at, schedule_id);

-- Runs that wait or are running; what has ended is in history.

-- A grant changes no column that stands in an index, so that the new version of the row stays on its page and no index is
-- written: pages are filled to less than a half. A run that is held for longer leaves the index of its queue when its lease is
-- first renewed (\`kept\`). Leases are in no index either: see the table \`leases\`.
create table {schema}.runs (
  id uuid primary key,
  workspace text collate "C" not null,
  job text not null,
  queue text collate "C" not null,
  state text not null,
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
  policy json not null,
  attempt integer not null,
  fence bigint not null,
  worker_id text,
  lease_until timestamptz(3),
  started_at timestamptz(3),
  cancel_requested boolean not null,
  idempotency_key text,
  progress jsonb,
  error jsonb,
  -- What one run at a time may be open in: a schedule, or a concurrency key.
  concurrency_group text collate "C",
  overlap text not null default 'allow',
  readiness text not null default 'ready',
  index_excluded boolean not null default false,
  -- Whether it takes part in turns between workspaces; only queues that several of them use have any.
  in_fair_share boolean not null default true,
  -- A fence may repeat after a failover to a replica that had not received the last claims; a random id tells the claims apart.
  claim_id uuid,
  -- Few and short, because each write of a run pays for them. A run that was handed over has a worker without a name.
  constraint runs_state check (case state
    when 'pending' then worker_id is null and lease_until is null and not index_excluded
    when 'running' then worker_id is not null and lease_until is not null and started_at is not null and readiness = 'ready'
    else false
  end),
  constraint runs_counts check (attempt >= 0 and fence >= attempt),
  constraint runs_planned check (scheduled_at is null or schedule_id is not null),
  constraint runs_in_group check (case when concurrency_group is null
    then readiness = 'ready' and overlap = 'allow'
    else readiness in ('ready', 'undecided', 'blocked') and overlap in ('skip', 'queue', 'queue_one', 'cancel_previous', 'allow')
  end)
) with (
  fillfactor = 45, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2
);
create index runs_pending on {schema}.runs (queue, priority, due_at) where readiness = 'ready' and not index_excluded;
create index runs_fair on {schema}.runs (queue, workspace, priority, due_at) where readiness = 'ready' and not index_excluded and in_fair_share;
create index runs_index_excluded on {schema}.runs (queue, workspace) where index_excluded;
create unique index runs_occurrence on {schema}.runs (schedule_id, scheduled_at) where scheduled_at is not null and trigger <> 'backfill';
create index runs_backfill on {schema}.runs (schedule_id, scheduled_at) where trigger = 'backfill';
create unique index runs_group on {schema}.runs (concurrency_group) where concurrency_group is not null and readiness = 'ready';
create index runs_blocked on {schema}.runs (concurrency_group, (coalesce(scheduled_at, due_at)), id) where readiness <> 'ready';
create index runs_undecided on {schema}.runs (due_at) where readiness = 'undecided';
-- For quotas, as above; no statement changes the workspace or the queue of a run.
create index runs_workspace on {schema}.runs (workspace, queue) where queue || '' >= '';

-- When to look at which runs: one row for each claim. Of a claim whose worker died, the runs beyond \`begun\` were never started:
-- they are claimable again at once, and their attempt does not count.
create table {schema}.leases (
  check_at timestamptz(3) not null,
  ids uuid[] not null,
  claim_id uuid,
  begun int not null default 0
) with (
  fillfactor = 90, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);
-- Read with nearly every row, and random, so that packing them would be in vain.
alter table {schema}.leases alter column ids set storage external;
create index leases_check on {schema}.leases (check_at);
create unique index leases_claim on {schema}.leases (claim_id);

create table {schema}.idempotency (
  workspace text collate "C" not null,
  key text collate "C" not null,
  run_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (workspace, key)
);
create index idempotency_created on {schema}.idempotency (created_at);

create table {schema}.queues (
  name text collate "C" primary key,
  limits jsonb not null default '{}',
  pause jsonb,
  rate_log jsonb not null default '[]'
);

-- Queues in which workspaces other than the default one have had runs: only there are there turns.
create table {schema}.shared_queues (name text collate "C" primary key);

-- What ended, and what happened.

-- Ids begin with an instant, so that their index serves for pages too. Runs are added in the order in which they end: a summary of
-- each stretch of pages finds the latest, and costs next to nothing to keep. Few runs end otherwise than well, so that
-- the indexes of those are hardly ever written.
create table {schema}.history (
  id uuid not null,
  workspace text collate "C" not null,
  job text not null,
  queue text collate "C" not null,
  state text not null check (state in ('succeeded', 'failed', 'cancelled')),
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
  policy json not null,
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
  result jsonb not null,
  concurrency_group text collate "C",
  overlap text not null default 'allow'
) partition by range (finished_at);
create index history_id on {schema}.history (id);
create index history_schedule on {schema}.history (schedule_id, scheduled_at) where schedule_id is not null;
create index history_finished on {schema}.history using brin (finished_at) with (pages_per_range = 16, autosummarize = on);
create index history_unsuccessful on {schema}.history (id) where state <> 'succeeded';
create index history_unsuccessful_at on {schema}.history (finished_at) where state <> 'succeeded';
create table {schema}.history_default partition of {schema}.history default;
create index history_default_finished on {schema}.history_default (finished_at);

-- What answers for the occurrences of finished runs that people deleted.
create table {schema}.deleted_runs (
  id uuid primary key,
  schedule_id uuid not null,
  schedule_revision integer,
  scheduled_at timestamptz(3) not null,
  due_at timestamptz(3) not null,
  state text not null check (state in ('succeeded', 'failed', 'cancelled')),
  trigger text not null,
  queue text collate "C" not null,
  attempt integer not null,
  worker_id text collate "C",
  started_at timestamptz(3),
  finished_at timestamptz(3) not null,
  deleted_at timestamptz(3) not null,
  deleted_by text not null
);
create index deleted_runs_slot on {schema}.deleted_runs (schedule_id, scheduled_at);
create index deleted_runs_deleted on {schema}.deleted_runs (deleted_at);

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
create index journal_at on {schema}.journal using brin (at) with (pages_per_range = 16, autosummarize = on);
create index journal_unknown_job on {schema}.journal (at) where kind = 'unknown_job';
create index journal_retrying on {schema}.journal (at)
  where kind in ('retry', 'lost', 'timed_out', 'postponed') and schedule_id is not null;
create table {schema}.journal_default partition of {schema}.journal default;
create index journal_default_at on {schema}.journal_default (at);

-- Lines lie by the day on which they were stored, by the clock of the database: that of a worker may be days off, and its
-- lines would be forgotten too soon or never.
create sequence {schema}.logs_seq;
create table {schema}.logs (
  seq bigint not null default nextval('{schema}.logs_seq'),
  stored_at timestamptz(3) not null,
  run_id uuid not null,
  attempt integer not null,
  at timestamptz(3) not null,
  level text not null,
  message text not null,
  data json
) partition by range (stored_at);
create index logs_run on {schema}.logs (run_id, seq);
create table {schema}.logs_default partition of {schema}.logs default;
create index logs_default_stored on {schema}.logs_default (stored_at);

-- Sums of what has ended, by five minutes.
create table {schema}.stats (
  scope text collate "C" not null,
  bucket_at timestamptz(3) not null,
  data json not null,
  primary key (scope, bucket_at)
);
create index stats_bucket on {schema}.stats (bucket_at);

-- Processes, and what the server keeps.

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
  seen_at timestamptz(3) not null,
  draining boolean not null default false
);

create table {schema}.apps (
  name text primary key,
  build double precision not null,
  synced_at timestamptz(3) not null
);

create table {schema}.documents (
  kind text collate "C" not null,
  id text collate "C" not null,
  workspace text collate "C" not null,
  state text collate "C" not null,
  data json not null,
  version integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  expires_at timestamptz(3),
  primary key (kind, id)
);
create index documents_state on {schema}.documents (kind, state, id);
create index documents_workspace on {schema}.documents (kind, workspace, id);
create index documents_updated on {schema}.documents (kind, updated_at);
create index documents_expires on {schema}.documents (expires_at) where expires_at is not null;

-- Hashed entry by entry, from the very text that is stored: \`json\`, never \`jsonb\`.
create table {schema}.audit_log (
  seq bigint primary key,
  at timestamptz(3) not null,
  workspace text collate "C" not null,
  actor text not null,
  action text not null,
  target text not null,
  before json not null,
  after json not null,
  origin json not null,
  previous_hash text not null,
  hash text not null
);
create index audit_log_workspace on {schema}.audit_log (workspace, seq);
create index audit_log_at on {schema}.audit_log (at);

select {schema}.make_partitions('history', 7), {schema}.make_partitions('journal', 7), {schema}.make_partitions('logs', 7);
`
