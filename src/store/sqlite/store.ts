/** Puts the SQLite store together: one connection, one clock, and the verbs over them. */

import { existsSync } from 'node:fs'
import { type Clock, systemClock } from '../../time/clock.ts'
import { sqliteAddress } from '../address-text.ts'
import { NO_FAILOVERS } from '../contract/failovers.ts'
import type { Store } from '../contract/store.ts'
import { refuseMissing } from '../migrate.ts'
import { appStore } from './apps.ts'
import { auditLogStore } from './audit-log.ts'
import { backfillStore } from './backfills.ts'
import { claimStore } from './claims.ts'
import { type Connection, connect } from './connection.ts'
import { documentStore } from './documents.ts'
import { mayDamageSharedFile } from './driver.ts'
import { feedStore } from './feed.ts'
import { groupStore } from './groups.ts'
import { historyStore } from './history.ts'
import { lockStore } from './locks.ts'
import { logStore } from './logs.ts'
import { monitoringStore } from './monitoring.ts'
import { planningStore } from './planning.ts'
import { queueStore } from './queues.ts'
import { quotaStore } from './quotas.ts'
import { runStore } from './runs.ts'
import { scheduleStore } from './schedules.ts'
import { migrationSql, prepareSchema } from './schema.ts'
import { statsStore } from './stats.ts'
import { upkeepStore } from './upkeep.ts'
import { wakeOn } from './wake.ts'
import { workerStore } from './workers.ts'

export interface SqliteOptions {
  /** A file, or `:memory:` for one that lives as long as the store. */
  readonly path: string
  /** On one machine its clock is the database's clock; tests hand in their own. */
  readonly clock?: Clock
  /** Whether the file is created, and one of an older schema brought up to date; default true. */
  readonly migrate?: boolean
  /** How long a verb waits for other writers before it fails; default 5000. */
  readonly busyTimeoutMs?: number
}

export interface SqliteStore extends Store {
  /** The whole schema as a script, for those who migrate by hand. */
  sql(): string
}

const BUSY_TIMEOUT_MS = 5000

export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  const { path, clock = systemClock, migrate = true, busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  const address = sqliteAddress(path)
  // Opening a path creates a file there.
  if (!migrate && path !== ':memory:' && !existsSync(path)) refuseMissing(`there is no file ${path}`, address)
  const connection = await connect({ path, busyTimeoutMs })
  try {
    await prepareSchema(connection, { name: nameOf(path), address, migrate, clock })
  } catch (error) {
    await connection.close()
    throw error
  }
  return storeOn(connection, { path, clock })
}

interface Place {
  readonly path: string
  readonly clock: Clock
}

/** The verbs over a connection that is open and has the schema. */
export function storeOn(connection: Connection, { path, clock }: Place): SqliteStore {
  const wake = wakeOn(connection, warnerOf(connection, path))
  return {
    name: nameOf(path),
    schedules: scheduleStore(connection, clock, wake),
    planning: planningStore(connection, clock, wake),
    runs: runStore(connection, clock, wake),
    claims: claimStore(connection, clock, wake),
    groups: groupStore(connection, clock, wake),
    queues: queueStore(connection, clock, wake),
    backfills: backfillStore(connection, clock, wake),
    apps: appStore(connection, clock),
    history: historyStore(connection),
    locks: lockStore(connection, clock),
    workers: workerStore(connection, clock),
    failovers: NO_FAILOVERS,
    documents: documentStore(connection, clock),
    auditLog: auditLogStore(connection, clock),
    logs: logStore(connection, clock),
    feed: feedStore(connection),
    stats: statsStore(connection, clock),
    monitoring: monitoringStore(connection),
    quotas: quotaStore(connection),
    upkeep: upkeepStore(connection, clock),
    wake,
    now: async () => clock.now(),
    sql: () => migrationSql(),
    async close() {
      wake.stop()
      await connection.close()
    },
  }
}

const nameOf = (path: string): string => `sqlite ${path}`

/** Speaks up once, and only when there really is a second connection: alone, an old SQLite is safe. */
function warnerOf(connection: Connection, path: string): () => void {
  let silent = false
  return () => {
    if (silent) return
    silent = true
    const [row] = connection.all<{ version: string }>('select sqlite_version() as version')
    if (row === undefined || !mayDamageSharedFile(row.version)) return
    process.emitWarning(`SQLite ${row.version} can, very rarely, damage a file that several connections write to`, {
      type: 'EverytickWarning',
      code: 'SQLITE_OLD',
      detail: `${path} is shared; run on a Node whose SQLite is 3.51.3 or newer`,
    })
  }
}
