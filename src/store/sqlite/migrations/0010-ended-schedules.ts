/** The tenth schema: schedules without a further occurrence, in the order in which they ended. */

export const endedSchedules = {
  version: 10,
  name: 'ended-schedules',
  sql: `
create index everytick_cursors_ended on everytick_cursors (watermark_at, schedule_id) where next_at is null;
`,
} as const
