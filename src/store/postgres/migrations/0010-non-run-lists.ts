/** The tenth schema: occurrences that became no run, listed newest first over all schedules. */

/** `{schema}` stands for the quoted name of the schema. */
export const NON_RUN_LISTS = `
create index non_runs_newest on {schema}.non_runs (to_at, schedule_id);
`
