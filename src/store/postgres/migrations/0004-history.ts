/** The fourth schema: history in the order of its ids, and by when its runs ended. */

/**
 * `{schema}` stands for the quoted name of the schema.
 * - Ids begin with an instant, so that their index serves for pages too, and a second one in that order is not written with
 *   every run that ends.
 * - Runs are added to history in the order in which they end: a summary of each stretch of pages finds the latest, and costs
 *   next to nothing to keep. Stretches are summed up when the next begins; the last is always looked at.
 */
export const HISTORY = `
drop index {schema}.history_created;
create index history_finished on {schema}.history using brin (finished_at) with (pages_per_range = 16, autosummarize = on);
`
