/** The eighth schema: every claim has a random id, which its runs name, and says how many of its runs have begun. There is no seventh: it was deleted before any release. */

/**
 * - A fence may repeat in a file that was restored from a copy. An id that no other history of the file can produce tells the two
 *   claims apart.
 * - Workers claim ahead. Of a claim whose worker died, the runs beyond `begun` were never started. Claims that begin all of their
 *   runs at once have no row.
 */
export const claims = {
  version: 8,
  name: 'claims',
  sql: `
alter table everytick_runs add column claim_id text;
create table everytick_claims (
  id text not null primary key,
  begun integer not null check (begun >= 0),
  ids text not null check (json_valid(ids)),
  claimed_at integer not null
) strict, without rowid;
create index everytick_claims_age on everytick_claims (claimed_at);
`,
} as const
