/** Brings a file to the schema this version needs, or refuses it; what the schema is stands in `migrations/`. */
import type { Clock } from '../../time/clock.ts'
import { type Migration, type NamedDatabase, pending, refuseOutdated } from '../migrate.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS } from './migrations/all.ts'

const CREATE = `
create table if not exists everytick_migrations (
  version integer not null primary key,
  name text not null,
  applied_at integer not null
) strict;
`
const EXISTS = `select 1 from sqlite_schema where type = 'table' and name = 'everytick_migrations'`
const CURRENT = `select coalesce(max(version), 0) as version from everytick_migrations`
const APPLIED = `insert into everytick_migrations (version, name, applied_at) values (?, ?, ?)`

export const NEWEST_VERSION: number = MIGRATIONS.at(-1)!.version

export interface SchemaOptions extends NamedDatabase {
  readonly migrate: boolean
  readonly clock: Clock
}

export async function prepareSchema(
  connection: Connection,
  options: SchemaOptions,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const { migrate, clock } = options
  const current = await connection.read(() => versionOf(connection))
  const missing = pending(migrations, current)
  if (missing.length === 0) return
  if (!migrate) refuseOutdated(options, current, missing)
  await connection.write(() => {
    connection.exec(CREATE)
    // Looked at again under the lock: another process may have been quicker.
    for (const migration of pending(migrations, versionOf(connection))) {
      connection.exec(migration.sql)
      connection.run(APPLIED, migration.version, migration.name, clock.now())
    }
  })
}

/** 0 when it is empty. */
export function versionOf(connection: Connection): number {
  if (connection.all(EXISTS).length === 0) return 0
  return connection.all<{ version: number }>(CURRENT)[0]?.version ?? 0
}

/** The same as a script for those who migrate by hand: everything after `version`, and the record of it. */
export function migrationSql(version = 0): string {
  const parts = pending(MIGRATIONS, version).map(
    (migration) => `-- ${migration.version}: ${migration.name}${migration.sql}
insert into everytick_migrations (version, name, applied_at)
values (${migration.version}, '${migration.name}', cast((julianday('now') - 2440587.5) * 86400000 as integer));
`,
  )
  return `begin immediate;\n${CREATE}\n${parts.join('\n')}\ncommit;\n`
}
