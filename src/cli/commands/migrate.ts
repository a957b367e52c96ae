/** `everytick migrate`: brings a database up to date, or prints the SQL for those who do it themselves. */
import { openStore, readStoreAddress } from '../../open-store.ts'
import { systemClock } from '../../time/clock.ts'
import { printable } from '../print.ts'

export interface MigrateOptions {
  readonly db: string
  readonly sql?: boolean
}

export async function migrate({ db, sql }: MigrateOptions): Promise<string> {
  if (sql) return migrationText(db)
  const store = await openStore(db, { clock: systemClock, migrate: true })
  await store.close()
  return `${printable(store.name)} is up to date\n`
}

/** From an empty database on; it opens nothing. */
async function migrationText(db: string): Promise<string> {
  const address = readStoreAddress(db)
  if (address.kind === 'sqlite') return (await import('../../store/sqlite/schema.ts')).migrationSql()
  const { migrationSql } = await import('../../store/postgres/migrate.ts')
  return migrationSql(address.schema === undefined ? {} : { schema: address.schema })
}
