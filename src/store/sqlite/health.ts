/** How the file of a SQLite store is: its size, its schema, and how due runs are found; dead rows and snapshots are not what SQLite has. */
import type { StoreHealth } from '../contract/upkeep.ts'
import { DUE_RUNS } from './claim.ts'
import type { Connection } from './connection.ts'
import { exposedFiles } from './private-file.ts'
import { NEWEST_VERSION, versionOf } from './schema.ts'

const SIZE = `
  select page_count * page_size as bytes, sqlite_version() as version from pragma_page_count(), pragma_page_size()`

/** Empty for a database in memory. */
const FILE = `select file from pragma_database_list where name = 'main'`

export async function health(connection: Connection): Promise<StoreHealth> {
  return connection.read(() => {
    const [size] = connection.all<{ bytes: number; version: string }>(SIZE)
    return {
      deadTuples: null,
      oldestSnapshotMs: null,
      bytes: size?.bytes ?? 0,
      version: size?.version ?? '',
      schemaVersion: versionOf(connection),
      newestVersion: NEWEST_VERSION,
      claimPlan: claimPlanOf(connection),
      pooler: null,
      exposedFiles: exposedFiles(connection.all<{ file: string }>(FILE)[0]?.file ?? ''),
    }
  })
}

function claimPlanOf(connection: Connection): 'index' | 'scan' {
  const lines = connection.all<{ detail: string }>(`explain query plan ${DUE_RUNS}`, null, null, null, null)
  return lines.some(({ detail }) => detail.includes('everytick_runs_pending')) ? 'index' : 'scan'
}
