/** The eleventh schema: schedules without a further occurrence, in the order in which they ended. */

/** `{schema}` stands for the quoted name of the schema. */
export const ENDED_SCHEDULES = `
create index cursors_ended on {schema}.cursors (watermark_at, schedule_id) where next_at is null;
`
