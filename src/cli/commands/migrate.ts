/** `everytick migrate`: brings a database up to date, says what that would apply, or prints the SQL for those who do it themselves. */
import { openStore, readStoreAddress } from '../../open-store.ts'
import { systemClock } from '../../time/clock.ts'
import { whereabouts } from '../config.ts'
import type { Io } from '../io.ts'
import { jsonText, printable } from '../print.ts'
import { isMissingFile } from '../store-file.ts'
import { UsageError } from '../usage-error.ts'

export interface MigrateOptions {
  readonly db?: string
  readonly sql?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface Schema {
  readonly version: number
  readonly missing: readonly { readonly version: number; readonly name: string }[]
}

export async function migrate({ db: said, sql, dryRun = false, json }: MigrateOptions, io: Io): Promise<void> {
  const db = said ?? whereabouts().db
  if (db === undefined)
    throw new UsageError('nobody said which database is meant', { hint: 'pass --db, or set DATABASE_URL' })
  if (sql) return io.write(await migrationText(db))
  const { version, missing } = await schemaOf(db)
  const name = dryRun ? null : await bringUp(db)
  const steps = missing.map((step) => ({ version: step.version, name: step.name }))
  if (json) return io.write(`${jsonText({ dryRun, from: version, applied: dryRun ? [] : steps, missing: steps })}\n`)
  const verb = dryRun ? 'would apply' : 'applied'
  for (const step of steps) io.write(`${verb} ${step.version} ${step.name}\n`)
  io.write(`${name === null ? upToDate(missing.length) : `${printable(name)} is up to date`}\n`)
}

const upToDate = (missing: number): string =>
  missing === 0 ? 'nothing to apply' : `${missing} to apply; nothing was written`

/** Looked at without changing it; somebody else may be quicker than we are after that. */
async function schemaOf(db: string): Promise<Schema> {
  const address = readStoreAddress(db)
  if (address.kind === 'sqlite') {
    const { lookAtSchema } = await import('../../store/sqlite/schema-look.ts')
    return lookAtSchema(isMissingFile(db) ? ':memory:' : address.path)
  }
  const { lookAtSchema } = await import('../../store/postgres/schema-look.ts')
  const { url, schema } = address
  return lookAtSchema({ url, ...(schema === undefined ? {} : { schema }) })
}

async function bringUp(db: string): Promise<string> {
  const store = await openStore(db, { clock: systemClock, migrate: true })
  await store.close()
  return store.name
}

/** From an empty database on; it opens nothing. */
async function migrationText(db: string): Promise<string> {
  const address = readStoreAddress(db)
  if (address.kind === 'sqlite') return (await import('../../store/sqlite/schema.ts')).migrationSql()
  const { migrationSql } = await import('../../store/postgres/migrate.ts')
  return migrationSql(address.schema === undefined ? {} : { schema: address.schema })
}
