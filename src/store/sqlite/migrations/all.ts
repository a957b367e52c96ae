/** Every migration in order; a new one is appended, and none that was released is ever edited. */
import type { Migration } from '../../migrate.ts'
import { schema } from './0001-schema.ts'

export const MIGRATIONS: readonly Migration[] = [schema]
