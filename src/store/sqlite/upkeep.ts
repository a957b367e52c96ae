/** Forgetting in SQLite: row by row, but never more than a few milliseconds of it in one step. */
import type { Clock } from '../../time/clock.ts'
import type { Retention, UpkeepStore } from '../contract/upkeep.ts'
import type { Connection } from './connection.ts'
import { health } from './health.ts'
import { remove } from './park.ts'
import { BY_ITSELF } from './revisions.ts'
import { play } from './steps.ts'

const STEP_ROWS = 1000
const STATS_KEEP_MS = 400 * 86_400_000

interface Shelf {
  readonly table: string
  readonly key: string
  /** When the row began to age; indexed. */
  readonly age: string
  readonly keepMs: (retention: Retention) => number
}

export const SHELVES: readonly Shelf[] = [
  { table: 'everytick_history', key: 'rowid', age: 'finished_at', keepMs: (retention) => retention.historyMs },
  { table: 'everytick_journal', key: 'rowid', age: 'at', keepMs: (retention) => retention.journalMs },
  { table: 'everytick_non_runs', key: 'rowid', age: 'recorded_at', keepMs: (retention) => retention.journalMs },
  { table: 'everytick_revisions', key: 'rowid', age: 'at', keepMs: (retention) => retention.journalMs },
  { table: 'everytick_backfills', key: 'rowid', age: 'finished_at', keepMs: (retention) => retention.journalMs },
  { table: 'everytick_idempotency', key: '(workspace, key)', age: 'created_at', keepMs: (kept) => kept.idempotencyMs },
  { table: 'everytick_workers', key: 'id', age: 'seen_at', keepMs: (retention) => retention.workersMs },
  { table: 'everytick_documents', key: 'rowid', age: 'expires_at', keepMs: () => 0 },
  { table: 'everytick_stats', key: '(scope, bucket_at)', age: 'bucket_at', keepMs: () => STATS_KEEP_MS },
  { table: 'everytick_logs', key: 'seq', age: 'stored_at', keepMs: (retention) => retention.historyMs },
]

export const sweepOf = ({ table, key, age }: Shelf): string => `
  delete from ${table} where ${key} in (
    select ${key.replaceAll(/[()]/g, '')} from ${table} where ${age} < ? order by ${age} limit ?)`

/** Schedules that no code has any more; in the words of their index. */
export const ORPHANS = `id in (
  select id from everytick_schedules where pause ->> 'by' = 'sync' and pause ->> 'at' < ? order by pause ->> 'at' limit ?)`

export function upkeepStore(connection: Connection, clock: Clock): UpkeepStore {
  return {
    health: () => health(connection),
    tidy: (retention) =>
      connection.write(() => {
        const now = clock.now()
        let removed = 0
        for (const shelf of SHELVES) {
          if (removed >= STEP_ROWS) break
          removed += connection.run(sweepOf(shelf), now - shelf.keepMs(retention), STEP_ROWS - removed)
        }
        if (removed < STEP_ROWS) {
          const orphans = { where: ORPHANS, values: [now - retention.orphansMs, STEP_ROWS - removed] }
          removed += play(connection, remove(orphans, { now, by: BY_ITSELF }))
        }
        return { removed, more: removed >= STEP_ROWS }
      }, STEP_ROWS),
  }
}
