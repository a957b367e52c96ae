/** Every migration in order; a new one is appended, and none that was released is ever edited. */
import type { Migration } from '../../migrate.ts'
import { start } from './0001-start.ts'
import { policies } from './0002-policies.ts'
import { history } from './0003-history.ts'
import { documents } from './0005-documents.ts'
import { reading } from './0006-reading.ts'
import { packs } from './0007-packs.ts'

export const MIGRATIONS: readonly Migration[] = [start, policies, history, documents, reading, packs]
