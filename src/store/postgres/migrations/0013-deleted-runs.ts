/** The thirteenth schema: what answers for the occurrences of runs that were deleted. */

/** `{schema}` stands for the quoted name of the schema. */
export const DELETED_RUNS = `
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
`
