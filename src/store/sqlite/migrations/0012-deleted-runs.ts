/** The twelfth schema: what answers for the occurrences of runs that were deleted. */

export const deletedRuns = {
  version: 12,
  name: 'deleted-runs',
  sql: `
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
`,
} as const
