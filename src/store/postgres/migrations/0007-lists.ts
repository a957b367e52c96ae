/** The seventh schema: runs that did not succeed are found among all that did. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - Few runs end otherwise than well, so that an index of those is hardly ever written.
 */
export const LISTS = `
create index history_unsuccessful on {schema}.history (id) where state <> 'succeeded';
`
