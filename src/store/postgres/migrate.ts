/** Brings the schema of a database up to date, one process at a time, or says what is missing; what each step does stands in `migrations/`. */
import { EverytickError } from '../../errors.ts'
import { type Migration, type NamedDatabase, pending, refuseOutdated } from '../migrate.ts'
import type { Connection } from './connection.ts'
import { SCHEMA } from './migrations/0001-schema.ts'
import { type Ask, patient, unprepared } from './statement.ts'

/** In order; a new one is appended, and none that was released is ever edited. */
export const MIGRATIONS: readonly Migration[] = [{ version: 1, name: 'schema', sql: SCHEMA }]

export const NEWEST_VERSION: number = MIGRATIONS.at(-1)!.version

/** Lower case, so that it is the same name with and without quotes; short, so that names made from it still fit. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,39}$/

/** The name of a schema as SQL, refused unless it can be nothing else. */
export function quotedSchema(schema: string): string {
  if (SCHEMA_NAME.test(schema) && !schema.startsWith('pg_')) return `"${schema}"`
  throw new EverytickError('OPTION_INVALID', `${JSON.stringify(schema)} cannot be the name of the schema`, {
    hint: 'use up to 40 lower-case letters, digits and underscores, beginning with a letter, and not with pg_',
  })
}

export interface MigrateOptions extends NamedDatabase {
  /** Quoted. */
  readonly schema: string
  readonly migrate: boolean
}

export async function migrate(
  connection: Connection,
  options: MigrateOptions,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const { schema, migrate } = options
  const current = await versionOf(connection.api.ask, schema)
  const missing = pending(migrations, current)
  if (missing.length === 0) return
  if (!migrate) refuseOutdated(options, current, missing)
  await connection.api.transact(async (ask) => {
    // Held to the end of the transaction: a lock of the session would not survive a pooler between us and the server.
    await ask(patient('select pg_advisory_xact_lock(hashtextextended($1, 20))'), [`everytick migrate ${schema}`])
    const current = await versionOf(ask, schema)
    for (const step of pending(migrations, current)) await ask(patient(stepSql(step, schema)), [])
  })
}

/**
 * Asked of the catalogue as of any table: `to_regclass` answers from what the session remembers, and one that has just waited
 * for another to migrate may still remember that there was nothing.
 */
const IS_THERE = unprepared(`
select exists (
  select 1 from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = 'migrations'
) as there`)

/** 0 when it is empty. */
export async function versionOf(ask: Ask, schema: string): Promise<number> {
  const [found] = await ask<{ there: boolean }>(IS_THERE, [schema.slice(1, -1)])
  if (!found!.there) return 0
  const newest = unprepared(`select coalesce(max(version), 0) as version from ${schema}.migrations`)
  return (await ask<{ version: number }>(newest, []))[0]!.version
}

function stepSql({ version, name, sql }: Migration, schema: string): string {
  // Asked first, because `if not exists` demands the right to create even where there is nothing to do.
  const absent = `do $$ begin if to_regnamespace('${schema}') is null then create schema ${schema}; end if; end $$;\n`
  const first = version === 1 ? absent : ''
  const row = `insert into ${schema}.migrations values (${version}, '${name}', ${schema}.now_at());\n`
  return `${first}${sql.trim().replaceAll('{schema}', schema)}\n${row}`
}

/** The SQL that takes a database from version `from` (0: an empty one) to the newest, to be applied by other means. */
export function migrationSql({ schema = 'everytick', from = 0 }: { schema?: string; from?: number } = {}): string {
  const steps = pending(MIGRATIONS, from).map(
    (step) => `-- ${step.version}: ${step.name}\n${stepSql(step, quotedSchema(schema))}`,
  )
  return steps.length === 0 ? '' : `begin;\n${steps.join('\n')}commit;\n`
}
