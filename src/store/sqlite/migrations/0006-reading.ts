/** The sixth schema: what people ask for is found by an index: tags, pauses, quarantines, what happened lately; and sums of what has ended. */

// Triggers keep the tags when they change or their schedule goes; whoever makes a schedule writes them, if it has any.
const tagsOf = (row: 'new' | 'old'): string => `select value, ${row}.workspace, ${row}.key from json_each(${row}.tags)`

export const reading = {
  version: 6,
  name: 'reading',
  sql: `
-- In the order in which schedules are listed.
create table everytick_tags (
  tag text not null,
  workspace text not null,
  key text not null,
  primary key (tag, workspace, key)
) strict, without rowid;
insert or ignore into everytick_tags select t.value, s.workspace, s.key
  from everytick_schedules s cross join json_each(s.tags) t where s.tags <> '[]';
create trigger everytick_schedules_retagged after update of tags on everytick_schedules when old.tags <> new.tags begin
  delete from everytick_tags where (tag, workspace, key) in (${tagsOf('old')});
  insert or ignore into everytick_tags ${tagsOf('new')};
end;
create trigger everytick_schedules_untagged after delete on everytick_schedules when old.tags <> '[]' begin
  delete from everytick_tags where (tag, workspace, key) in (${tagsOf('old')});
end;

create index everytick_schedules_paused on everytick_schedules (workspace, key) where pause is not null;
create index everytick_schedules_quarantined on everytick_schedules (workspace, key) where quarantine is not null;
create index everytick_schedules_code on everytick_schedules (workspace, key) where source <> 'api';

create index everytick_audit_log_at on everytick_audit_log (at);

create table everytick_stats (
  scope text not null,
  bucket_at integer not null,
  data text not null,
  primary key (scope, bucket_at)
) strict, without rowid;
create index everytick_stats_bucket on everytick_stats (bucket_at);
-- A record of non-runs grows: so much of it was summed up already.
alter table everytick_non_runs add column counted integer not null default 0;
`,
} as const
