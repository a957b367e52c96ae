/** The twelfth schema: what alert rules look for is found by the instant at which it happened. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - Few runs end otherwise than well, and few workers meet a job that they do not have, so that both are hardly ever written.
 */
export const MONITORING = `
create index history_unsuccessful_at on {schema}.history (finished_at) where state <> 'succeeded';
create index journal_unknown_job on {schema}.journal (at) where kind = 'unknown_job';
`
