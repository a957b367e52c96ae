/** The fourteenth schema: what the quotas of a workspace count, by workspace. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - No statement changes the workspace or the queue of a run, so that claims still write no index.
 */
export const QUOTAS = `
create index runs_workspace on {schema}.runs (workspace, queue);
create index schedules_queue on {schema}.schedules (workspace, queue);
create index tags_workspace on {schema}.tags (workspace, tag);
create index backfills_workspace on {schema}.backfills (workspace) where state = 'running';
`
