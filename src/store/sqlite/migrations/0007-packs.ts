/** The seventh schema: packs, in which a long list of runs waits as it came. */

export const packs = {
  version: 7,
  name: 'packs',
  sql: `
-- What its runs have in common stands in columns: mostly the payload too. Otherwise it is null, and each id in the text has its
-- own. The text comes last, so that whoever reads only the columns need not pass over it.
create table everytick_packs (
  id integer not null primary key,
  workspace text not null,
  job text not null,
  queue text not null,
  trigger text not null,
  priority integer not null check (priority between 0 and 9),
  due_at integer not null,
  created_at integer not null,
  policy text not null,
  payload text,
  first_id text not null,
  last_id text not null,
  count integer not null check (count > 0),
  runs text not null
) strict;
create index everytick_packs_urgency on everytick_packs (queue, priority desc, due_at);
create index everytick_packs_turn on everytick_packs (queue, workspace, priority desc, due_at, id, count);
create index everytick_packs_due on everytick_packs (queue, due_at);
create index everytick_packs_ids on everytick_packs (last_id, first_id);
`,
} as const
