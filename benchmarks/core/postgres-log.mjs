/** Gives a new server of ours files of its log to write over, as one has that has run for a while; what is measured then is not decided here. */

const FILE_BYTES = `select setting::float8 from pg_settings where name = 'wal_segment_size'`
const MOST_BYTES = `select setting::float8 * 1024 * 1024 as setting from pg_settings where name = 'max_wal_size'`

/**
 * A server writes over the files of its log that it no longer needs. A new one has none, and fills each with zeros first,
 * while all who commit wait: a bulk enqueue took half as long again. Answers how many it has now.
 */
export async function wearIn(client) {
  const ask = async (text) => (await client.query(text)).rows[0]
  const files = Math.floor((await ask(MOST_BYTES)).setting / (await ask(FILE_BYTES)).setting)
  for (let i = 0; i < files; i++) {
    // A file in which nothing was written is not left for the next.
    await client.query(`select pg_logical_emit_message(true, 'everytick', '')`)
    await client.query('select pg_switch_wal()')
  }
  await client.query('checkpoint')
  return (await ask('select count(*)::int as files from pg_ls_waldir()')).files
}
