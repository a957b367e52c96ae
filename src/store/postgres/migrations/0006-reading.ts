/** The sixth schema: what people ask for is found by an index: tags, pauses, quarantines, what happened lately; and sums of what has ended. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - Tags have a table of their own, in the order in which schedules are listed. Triggers keep it: a schedule without tags
 *   costs nothing but the look that it has none. A long tag is cut here, and looked at in the schedule itself.
 * - A record of non-runs grows, so that it knows how much of it was summed up already (`counted`).
 */
export const READING = `
create table {schema}.tags (
  tag text collate "C" not null,
  workspace text collate "C" not null,
  key text collate "C" not null,
  primary key (tag, workspace, key)
);
insert into {schema}.tags
select distinct left(t.tag, 100), s.workspace, s.key
from {schema}.schedules s cross join lateral jsonb_array_elements_text(s.tags) as t (tag)
where s.tags <> '[]';

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

create index schedules_paused on {schema}.schedules (workspace, key) where pause is not null;
create index schedules_quarantined on {schema}.schedules (workspace, key) where quarantine is not null;
create index schedules_code on {schema}.schedules (workspace, key) where source <> 'api';

create index journal_at on {schema}.journal using brin (at) with (pages_per_range = 16, autosummarize = on);
create index audit_log_at on {schema}.audit_log (at);

create table {schema}.stats (
  scope text collate "C" not null,
  bucket_at timestamptz(3) not null,
  data json not null,
  primary key (scope, bucket_at)
);
create index stats_bucket on {schema}.stats (bucket_at);
alter table {schema}.non_runs add column counted bigint not null default 0;
`
