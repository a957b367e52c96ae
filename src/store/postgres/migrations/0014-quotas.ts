/** The fourteenth schema: what the quotas of a workspace count, by workspace. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - Every name fulfils the conditions of the first three: they keep all other questions from taking these indexes for their own, such as
 *   those for (workspace, key), which would then compare a workspace with itself.
 * - No statement changes the workspace or the queue of a run, so that claims still write no index.
 */
export const QUOTAS = `
create index runs_workspace on {schema}.runs (workspace, queue) where queue || '' >= '';
create index schedules_queue on {schema}.schedules (workspace, queue) where queue || '' >= '';
create index tags_workspace on {schema}.tags (workspace, tag) where tag || '' >= '';
create index backfills_workspace on {schema}.backfills (workspace) where state = 'running';
`
