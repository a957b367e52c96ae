/** The fifth schema: documents, the audit log, the lines that runs log, and workers that drain. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - What people wrote is kept as text (`json`): nobody asks what is in it, and the audit log is hashed from it.
 * - Lines of runs lie by the day on which they were stored, by the database's clock: that of a worker may be days off, and
 *   its lines would be forgotten too soon or never.
 */
export const DOCUMENTS = `
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
select {schema}.make_partitions('logs', 7);

alter table {schema}.workers add column draining boolean not null default false;
`
