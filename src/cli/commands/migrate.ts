/** `everytick migrate`: migrates a database, prints the pending migrations, or prints the SQL to apply by hand. */
import { existsSync } from 'node:fs'
import { openStore, readStoreAddress, type StoreOption } from '../../open-store.ts'
import type { Store } from '../../store/contract/store.ts'
import { systemClock } from '../../time/clock.ts'
import { releaseFiles } from '../backend.ts'
import { whereabouts } from '../config.ts'
import type { Io } from '../io.ts'
import { noConfigRefusal } from '../no-config.ts'
import { jsonText, printable } from '../print.ts'
import { projectStore } from '../project-store.ts'
import { UsageError } from '../usage-error.ts'

export interface MigrateOptions {
  readonly db?: string
  readonly config?: string
  readonly sql?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface Schema {
  readonly version: number
  readonly missing: readonly { readonly version: number; readonly name: string }[]
}

export async function migrate(options: MigrateOptions, io: Io): Promise<void> {
  const { sql, dryRun = false, json } = options
  const store = await storeOf(options)
  if (sql) return io.write(await migrationText(store))
  const { version, missing } = typeof store === 'string' ? await schemaOf(store) : await schemaOfOpen(store)
  const name = dryRun ? null : await bringUp(store)
  await releaseFiles(store)
  if (typeof store !== 'string') await store.close()
  const steps = missing.map((step) => ({ version: step.version, name: step.name }))
  if (json) return io.write(`${jsonText({ dryRun, from: version, applied: dryRun ? [] : steps, missing: steps })}\n`)
  const verb = dryRun ? 'would apply' : 'applied'
  for (const step of steps) io.write(`${verb} ${step.version} ${step.name}\n`)
  io.write(`${name === null ? upToDate(missing.length) : `${printable(name)} is up to date`}\n`)
}

const upToDate = (missing: number): string =>
  missing === 0 ? 'nothing to apply' : `${missing} to apply; nothing was written`

async function storeOf({ db, config }: MigrateOptions): Promise<StoreOption> {
  const store = db ?? whereabouts().db ?? (await projectStore(config))
  if (store !== undefined) return store
  const refusal = noConfigRefusal('a database', 'pass --db, or set DATABASE_URL')
  if (refusal) throw refusal
  throw new UsageError('No database given', {
    hint: 'pass --db or --config, or set DATABASE_URL',
  })
}

/** Reads the schema version without changing it; another process may migrate after that. */
async function schemaOf(db: string): Promise<Schema> {
  const address = readStoreAddress(db)
  if (address.kind === 'sqlite') {
    const { readSchemaVersion } = await import('../../store/sqlite/schema-check.ts')
    // Opening a SQLite path would create the file.
    return readSchemaVersion(existsSync(address.path) ? address.path : ':memory:')
  }
  const { readSchemaVersion } = await import('../../store/postgres/schema-check.ts')
  const { url, schema } = address
  return readSchemaVersion({ url, ...(schema === undefined ? {} : { schema }) })
}

/** Opening a store in the configuration has already migrated or rejected it. */
async function schemaOfOpen(store: Store): Promise<Schema> {
  return { version: (await store.upkeep.health()).schemaVersion, missing: [] }
}

async function bringUp(option: StoreOption): Promise<string> {
  if (typeof option !== 'string') return option.name
  const store = await openStore(option, { clock: systemClock, migrate: true })
  await store.close()
  return store.name
}

/** The SQL for an empty database; opens none. */
async function migrationText(store: StoreOption): Promise<string> {
  if (typeof store !== 'string')
    throw new UsageError('the configuration opens its own store, so the kind of database is unknown', {
      hint: 'pass --db with an address of the same kind; --sql does not open it',
    })
  const address = readStoreAddress(store)
  if (address.kind === 'sqlite') return (await import('../../store/sqlite/schema.ts')).migrationSql()
  const { migrationSql } = await import('../../store/postgres/migrate.ts')
  return migrationSql(address.schema === undefined ? {} : { schema: address.schema })
}
