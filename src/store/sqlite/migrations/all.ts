/** Every migration in order; a new one is appended, and none that was released is ever edited. */
import type { Migration } from '../../migrate.ts'
import { start } from './0001-start.ts'
import { policies } from './0002-policies.ts'
import { history } from './0003-history.ts'
import { documents } from './0005-documents.ts'
import { reading } from './0006-reading.ts'
import { claims } from './0008-claims.ts'
import { nonRunLists } from './0009-non-run-lists.ts'
import { endedSchedules } from './0010-ended-schedules.ts'
import { monitoring } from './0011-monitoring.ts'
import { deletedRuns } from './0012-deleted-runs.ts'
import { quotas } from './0013-quotas.ts'

export const MIGRATIONS: readonly Migration[] = [
  start,
  policies,
  history,
  documents,
  reading,
  claims,
  nonRunLists,
  endedSchedules,
  monitoring,
  deletedRuns,
  quotas,
]
