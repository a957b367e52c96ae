/** Which changes a database still needs, without changing it. */
import { readPostgresAddress } from '../address-text.ts'
import { type Migration, pending } from '../migrate.ts'
import { connect } from './connection.ts'
import { MIGRATIONS, quotedSchema, versionOf } from './migrate.ts'
import { storeName } from './store.ts'

export interface SchemaPlace {
  readonly url: string
  readonly schema?: string
}

export async function readSchemaVersion({
  url,
  schema = 'everytick',
}: SchemaPlace): Promise<{ version: number; missing: readonly Migration[] }> {
  const { urls } = readPostgresAddress(url)
  const options = { urls, max: 1, prepare: false, statementTimeoutMs: 30_000, name: storeName({ url }) }
  const connection = connect(options)
  try {
    const version = await versionOf(connection.api.ask, quotedSchema(schema))
    return { version, missing: pending(MIGRATIONS, version) }
  } finally {
    await connection.close()
  }
}
