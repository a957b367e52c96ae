/** Decides which numbered changes a database still needs, and refuses what this version cannot use; each store applies them itself. */
import { EverytickError } from '../errors.ts'

/** One change of the schema. Published ones are never edited: a mistake is mended by the next. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** What is still to be applied to a database at version `current` (0 when it is empty), in order. */
export function pending(migrations: readonly Migration[], current: number): readonly Migration[] {
  const newest = migrations.at(-1)?.version ?? 0
  if (current <= newest) return migrations.filter(({ version }) => version > current)
  const message = `the database is at schema version ${current}, and this version of everytick knows ${newest}`
  throw new EverytickError('SCHEMA_TOO_NEW', message, {
    hint: 'update everytick here to the version that migrated the database, or a newer one',
  })
}

/** A database as a refusal names it. */
export interface NamedDatabase {
  /** For people. */
  readonly name: string
  /** As it can be pasted after `--db`; never with a password. */
  readonly address: string
}

/** For a process that may not migrate: names what the database lacks, and the command that applies it. */
export function refuseOutdated(
  { name, address }: NamedDatabase,
  current: number,
  missing: readonly Migration[],
): never {
  if (current === 0) refuseMissing(`${name} has no tables of Everytick`, address)
  const names = missing.map((step) => `${step.version} (${step.name})`).join(', ')
  throw new EverytickError('SCHEMA_OUTDATED', `${name} lacks migration ${names}`, {
    hint: `run: everytick migrate --db ${address}`,
  })
}

/** For a process that may not create a database. */
export function refuseMissing(message: string, address: string): never {
  throw new EverytickError('STORE_MISSING', message, {
    hint: `check the address; to create the tables there, run: everytick migrate --db ${address}`,
  })
}
