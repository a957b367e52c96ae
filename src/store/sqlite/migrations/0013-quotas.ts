/** The thirteenth schema: what the quotas of a workspace count, by workspace. */

export const quotas = {
  version: 13,
  name: 'quotas',
  sql: `
-- Every name fulfils the conditions: they keep all other questions from taking these indexes for their own.
create index everytick_runs_workspace on everytick_runs (workspace, queue) where queue || '' >= '';
create index everytick_schedules_queue on everytick_schedules (workspace, queue) where queue || '' >= '';
create index everytick_tags_workspace on everytick_tags (workspace, tag) where tag || '' >= '';
create index everytick_backfills_workspace on everytick_backfills (workspace) where state = 'running';
`,
} as const
