/** A database of its own for a test that does not migrate: a copy with the newest schema, and nothing in it. */
import { inject } from 'vitest'
import { createDatabase, type Database } from './launcher.ts'

export const createReadyDatabase = (): Promise<Database> => createDatabase(inject('postgres'), inject('template'))
