/** The fifth schema: documents, the audit log, the lines that runs log, and workers that drain. */

export const documents = {
  version: 5,
  name: 'documents',
  sql: `
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

-- Counts on when all of it was forgotten: whoever reads on from a number must not miss what comes.
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

alter table everytick_workers add column draining integer not null default 0 check (draining in (0, 1));
`,
} as const
