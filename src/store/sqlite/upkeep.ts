/** Forgetting in SQLite: row by row, but never more than a few milliseconds of it in one step. */
import type { Clock } from '../../time/clock.ts'
import type { Forgotten, Retention, UpkeepStore } from '../contract/upkeep.ts'
import { createTally } from '../forgotten-tally.ts'
import type { Connection } from './connection.ts'
import { endedSchedules } from './ended-schedules.ts'
import { health } from './health.ts'
import { remove } from './park.ts'
import { BY_ITSELF } from './revisions.ts'
import { play } from './steps.ts'
import { writeProblem } from './write-problem.ts'

const STEP_ROWS = 1000
const DAY_MS = 86_400_000
const STATS_KEEP_MS = 400 * DAY_MS

interface Shelf {
  readonly kind: Forgotten
  readonly table: string
  readonly key: string
  /** When the row began to age; indexed. */
  readonly age: string
  readonly keepMs: (retention: Retention) => number
}

const history = ({ historyMs }: Retention): number => historyMs
const journal = ({ journalMs }: Retention): number => journalMs

export const SHELVES: readonly Shelf[] = [
  { kind: 'runs', table: 'everytick_history', key: 'rowid', age: 'finished_at', keepMs: history },
  { kind: 'journal', table: 'everytick_journal', key: 'rowid', age: 'at', keepMs: journal },
  { kind: 'nonRuns', table: 'everytick_non_runs', key: 'rowid', age: 'recorded_at', keepMs: journal },
  { kind: 'deletedRuns', table: 'everytick_deleted_runs', key: 'rowid', age: 'deleted_at', keepMs: journal },
  { kind: 'revisions', table: 'everytick_revisions', key: 'rowid', age: 'at', keepMs: journal },
  { kind: 'backfills', table: 'everytick_backfills', key: 'rowid', age: 'finished_at', keepMs: journal },
  {
    ...{ kind: 'idempotencyKeys', table: 'everytick_idempotency', key: '(workspace, key)', age: 'created_at' },
    keepMs: ({ idempotencyMs }) => idempotencyMs,
  },
  { kind: 'workers', table: 'everytick_workers', key: 'id', age: 'seen_at', keepMs: ({ workersMs }) => workersMs },
  { kind: 'documents', table: 'everytick_documents', key: 'rowid', age: 'expires_at', keepMs: () => 0 },
  {
    ...{ kind: 'stats', table: 'everytick_stats', key: '(scope, bucket_at)', age: 'bucket_at' },
    keepMs: () => STATS_KEEP_MS,
  },
  // A worker that lives reports long before; without the row a run counts as begun.
  { kind: 'claims', table: 'everytick_claims', key: 'id', age: 'claimed_at', keepMs: () => DAY_MS },
  { kind: 'logs', table: 'everytick_logs', key: 'seq', age: 'stored_at', keepMs: history },
]

export const sweepOf = ({ table, key, age }: Shelf): string => `
  delete from ${table} where ${key} in (
    select ${key.replaceAll(/[()]/g, '')} from ${table} where ${age} < ? order by ${age} limit ?)`

export const overdueOf = ({ table, age }: Shelf): string => `select count(*) as rows from ${table} where ${age} < ?`

/** Schedules that no code has any more; in the words of their index. */
export const ORPHANS = `id in (
  select id from everytick_schedules where pause ->> 'by' = 'sync' and pause ->> 'at' < ? order by pause ->> 'at' limit ?)`

export const OVERDUE_ORPHANS = `
  select count(*) as rows from everytick_schedules where pause ->> 'by' = 'sync' and pause ->> 'at' < ?`

export function upkeepStore(connection: Connection, clock: Clock): UpkeepStore {
  const ended = endedSchedules(connection)
  return {
    pool: () => null,
    health: () => health(connection),
    writeProblem: () => writeProblem(connection),
    tidy: (retention) =>
      connection.write(() => {
        const now = clock.now()
        const tally = createTally()
        for (const shelf of SHELVES) {
          if (tally.removed >= STEP_ROWS) break
          tally.add(
            shelf.kind,
            connection.run(sweepOf(shelf), now - shelf.keepMs(retention), STEP_ROWS - tally.removed),
          )
        }
        if (tally.removed < STEP_ROWS) {
          const orphans = { where: ORPHANS, values: [now - retention.orphansMs, STEP_ROWS - tally.removed] }
          tally.add('orphans', play(connection, remove(orphans, { now, by: BY_ITSELF })))
        }
        if (tally.removed < STEP_ROWS && retention.endedMs !== null) {
          const over = ended.next(now - retention.endedMs)
          tally.add('endedSchedules', play(connection, remove(over, { now, by: BY_ITSELF })))
        }
        return { removed: tally.removed, counts: tally.counts, more: tally.removed >= STEP_ROWS }
      }, STEP_ROWS),
    async overdue(retention) {
      const now = clock.now()
      const tally = createTally()
      // Each on its own, so that nobody waits for all of them.
      const count = async (kind: Forgotten, text: string, ...values: number[]): Promise<void> => {
        const [row] = await connection.read(() => connection.all<{ rows: number }>(text, ...values))
        tally.add(kind, row!.rows)
      }
      for (const shelf of SHELVES) await count(shelf.kind, overdueOf(shelf), now - shelf.keepMs(retention))
      await count('orphans', OVERDUE_ORPHANS, now - retention.orphansMs)
      if (retention.endedMs !== null) tally.add('endedSchedules', await ended.count(now - retention.endedMs))
      return tally.counts
    },
  }
}
