/** The ninth schema: occurrences that became no run, listed newest first over all schedules. */

export const nonRunLists = {
  version: 9,
  name: 'non-run-lists',
  sql: `
create index everytick_non_runs_newest on everytick_non_runs (to_at, schedule_id);
`,
} as const
