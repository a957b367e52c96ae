/** The thirteenth schema: what the quotas of a workspace count, by workspace. */

export const quotas = {
  version: 13,
  name: 'quotas',
  sql: `
create index everytick_runs_workspace on everytick_runs (workspace, queue);
create index everytick_schedules_queue on everytick_schedules (workspace, queue);
create index everytick_tags_workspace on everytick_tags (workspace, tag);
create index everytick_backfills_workspace on everytick_backfills (workspace) where state = 'running';
`,
} as const
