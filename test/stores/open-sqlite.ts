/** A SQLite store stopped inside one transaction: the real verbs on a connection that never commits by itself. */

import { setImmediate as afterIo } from 'node:timers/promises'
import { NO_FAILOVERS } from '../../src/store/contract/failovers.ts'
import { appStore } from '../../src/store/sqlite/apps.ts'
import { auditLogStore } from '../../src/store/sqlite/audit-log.ts'
import { backfillStore } from '../../src/store/sqlite/backfills.ts'
import { claimStore } from '../../src/store/sqlite/claims.ts'
import type { Connection } from '../../src/store/sqlite/connection.ts'
import { documentStore } from '../../src/store/sqlite/documents.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { feedStore } from '../../src/store/sqlite/feed.ts'
import { groupStore } from '../../src/store/sqlite/groups.ts'
import { historyStore } from '../../src/store/sqlite/history.ts'
import { lockStore } from '../../src/store/sqlite/locks.ts'
import { logStore } from '../../src/store/sqlite/logs.ts'
import { monitoringStore } from '../../src/store/sqlite/monitoring.ts'
import { planningStore } from '../../src/store/sqlite/planning.ts'
import { queueStore } from '../../src/store/sqlite/queues.ts'
import { quotaStore } from '../../src/store/sqlite/quotas.ts'
import { runStore } from '../../src/store/sqlite/runs.ts'
import { scheduleStore } from '../../src/store/sqlite/schedules.ts'
import { statsStore } from '../../src/store/sqlite/stats.ts'
import { play } from '../../src/store/sqlite/steps.ts'
import { upkeepStore } from '../../src/store/sqlite/upkeep.ts'
import { workerStore } from '../../src/store/sqlite/workers.ts'
import type { OpenStore } from '../../src/testing.ts'
import type { Clock } from '../../src/time/clock.ts'

export async function openHeldSqlite({ path, clock }: { path: string; clock: Clock }): Promise<OpenStore> {
  const database = await openDatabase(path)
  database.exec('begin immediate')
  const connection: Connection = {
    all: <R>(text: string, ...values: (string | number | null)[]) => database.prepare(text).all(...values) as R[],
    run: (text, ...values) => Number(database.prepare(text).run(...values).changes),
    exec: (text) => database.exec(text),
    read: async (work) => work(),
    write: async (work) => work(),
    writeSteps: async (steps) => play(connection, steps()),
    close: async () => {},
  }
  const wake = { hint: () => {}, stop: () => {}, listen: async () => async () => {} }
  const end = async (how: string): Promise<void> => {
    database.exec(how)
    database.close()
  }
  return {
    store: {
      name: 'held',
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
      close: async () => {},
    },
    commit: () => end('commit'),
    rollback: () => end('rollback'),
    async waitedFor() {
      // Every other writer waits; a verb begins its write in the turn after the one it was called in.
      await afterIo()
      await afterIo()
    },
  }
}
