/** The eleventh schema: what alert rules look for is found by the instant at which it happened. */

// Few runs end otherwise than well, and few workers meet a job that they do not have, so that both are hardly ever written.
export const monitoring = {
  version: 11,
  name: 'monitoring',
  sql: `
create index everytick_history_unsuccessful_at on everytick_history (finished_at) where state <> 'succeeded';
create index everytick_journal_unknown_job on everytick_journal (at) where kind = 'unknown_job';
`,
} as const
