/** The third schema: history in the order of its ids, which begin with an instant, so that no index beside theirs is written for it. */

export const history = {
  version: 3,
  name: 'history',
  sql: `
drop index everytick_history_created;
drop index everytick_history_schedule;
create index everytick_history_schedule on everytick_history (schedule_id, id) where schedule_id is not null;
drop index everytick_history_unsuccessful;
create index everytick_history_unsuccessful on everytick_history (id) where state <> 'succeeded';
`,
} as const
