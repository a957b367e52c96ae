/** Which changes a file still needs, without changing it. */
import type { Migration } from '../migrate.ts'
import { pending } from '../migrate.ts'
import { connect } from './connection.ts'
import { MIGRATIONS } from './migrations/all.ts'
import { versionOf } from './schema.ts'

export async function readSchemaVersion(path: string): Promise<{ version: number; missing: readonly Migration[] }> {
  const connection = await connect({ path, busyTimeoutMs: 5000 })
  try {
    const version = await connection.read(() => versionOf(connection))
    return { version, missing: pending(MIGRATIONS, version) }
  } finally {
    await connection.close()
  }
}
