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
    hint: 'upgrade everytick here to the version that migrated the database',
  })
}

/** For those who migrate out of band: says what is missing and how to get it. `store` is a name for people. */
export function refuseOutdated(store: string, missing: readonly Migration[]): never {
  const names = missing.map(({ version, name }) => `${version} (${name})`).join(', ')
  throw new EverytickError('SCHEMA_OUTDATED', `${store} lacks migration ${names}`, {
    hint: 'run `everytick migrate --db <address>`, or apply what `everytick migrate --sql --db <address>` prints',
  })
}
