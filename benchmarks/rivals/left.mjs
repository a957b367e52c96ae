/** Asks a database whether jobs are left that are not finished on its disk, by a connection of its own; which rows say so is the caller's. */
import { openDatabase } from '../../dist/store/sqlite/driver.js'

/**
 * `open` is a query that answers a row for each job that is not finished. `openSqlite` is to be the contender's own
 * driver: two copies of SQLite in one process must not share a file.
 */
export async function anyLeft(place, open, openSqlite = openDatabase) {
  const sql = `select exists(${open}) as it`
  return place.kind === 'postgres' ? inPostgres(place.where, sql) : inSqlite(() => openSqlite(place.where), sql)
}

async function inPostgres(url, sql) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  // A connection that is cut off while it closes is no news.
  client.on('error', () => {})
  await client.connect()
  return { ask: async () => (await client.query(sql)).rows[0].it, close: () => client.end() }
}

function inSqlite(openIt, sql) {
  let database
  const ask = async () => {
    database ??= await openIt()
    return database.prepare(sql).all()[0].it === 1
  }
  return { ask, close: async () => database?.close() }
}
