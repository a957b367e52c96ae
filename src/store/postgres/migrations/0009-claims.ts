/** The ninth schema: every claim has a random id, which its runs name, and says how many of its runs have begun. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - A fence may repeat after a failover to a replica that had not received the last claims. An id that no other history of the
 *   database can produce tells the two claims apart.
 * - Workers claim ahead. Of a claim whose worker died, the runs beyond `begun` were never started: they are claimable again
 *   at once, and their attempt does not count. Rows of older versions have no claim id, and count as begun.
 */
export const CLAIMS = `
alter table {schema}.runs add column claim_id uuid;
alter table {schema}.leases add column claim_id uuid, add column begun int not null default 0;
create unique index leases_claim on {schema}.leases (claim_id);
`
