/** Makes the database that tests copy: migrated once, so that hardly any test has to do it again. */
import pg from 'pg'
import { migrationSql } from '../../src/postgres.ts'
import { createDatabase, type Database } from './launcher.ts'

/** Only while no connection to it is open can it be copied. */
export async function createTemplate(serverUrl: string): Promise<Database> {
  const database = await createDatabase(serverUrl)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query(migrationSql())
  } finally {
    await client.end()
  }
  return database
}
