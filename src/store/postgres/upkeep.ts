/** Forgetting in Postgres: whole days of history, journal and logs at once, everything else in bounded steps. */
import type { Forgotten, Retention, UpkeepStore } from '../contract/upkeep.ts'
import { createTally } from '../forgotten-tally.ts'
import type { Connection } from './connection.ts'
import { createEndedSchedules, SCAN_ROWS as ENDED_ROWS } from './ended-schedules.ts'
import { createHealth } from './health.ts'
import { createPartitions, type Partitioned } from './partitions.ts'
import { removeStatement } from './remove.ts'
import { lockStatement } from './retract.ts'
import { createRewatch } from './rewatch.ts'
import { msOf, spanOf } from './rows.ts'
import { plain, prepared, type Statement, texts } from './statement.ts'
import { writeProblem } from './write-problem.ts'

const STEP_ROWS = 1000
const STEP_ORPHANS = 100
const STATS_KEEP_MS = 400 * 86_400_000

interface Orphan {
  id: string
  workspace: string
  key: string
}

interface Shelf {
  readonly kind: Forgotten
  readonly table: string
  /** When the row began to age; indexed, except where there are few. */
  readonly age: string
  readonly keepMs: (retention: Retention) => number
}

/** What goes row by row: the small tables, and days for which nobody had made a partition. */
const SHELVES: readonly Shelf[] = [
  { kind: 'runs', table: 'history_default', age: 'finished_at', keepMs: ({ historyMs }) => historyMs },
  { kind: 'journal', table: 'journal_default', age: 'at', keepMs: ({ journalMs }) => journalMs },
  { kind: 'nonRuns', table: 'non_runs', age: 'recorded_at', keepMs: ({ journalMs }) => journalMs },
  { kind: 'deletedRuns', table: 'deleted_runs', age: 'deleted_at', keepMs: ({ journalMs }) => journalMs },
  { kind: 'revisions', table: 'revisions', age: 'at', keepMs: ({ journalMs }) => journalMs },
  { kind: 'backfills', table: 'backfills', age: 'finished_at', keepMs: ({ journalMs }) => journalMs },
  { kind: 'idempotencyKeys', table: 'idempotency', age: 'created_at', keepMs: ({ idempotencyMs }) => idempotencyMs },
  { kind: 'workers', table: 'workers', age: 'seen_at', keepMs: ({ workersMs }) => workersMs },
  { kind: 'documents', table: 'documents', age: 'expires_at', keepMs: () => 0 },
  { kind: 'stats', table: 'stats', age: 'bucket_at', keepMs: () => STATS_KEEP_MS },
  { kind: 'logs', table: 'logs_default', age: 'stored_at', keepMs: ({ historyMs }) => historyMs },
]

export function createUpkeep(connection: Connection, schema: string): UpkeepStore {
  const partitions = createPartitions(connection, schema)
  const rewatch = createRewatch(connection, schema)
  const schedules = createEndedSchedules(connection, schema)
  const shelves = SHELVES.map((shelf) => ({
    ...{ kind: shelf.kind, keepMs: shelf.keepMs },
    ...{ sweep: sweepStatement(schema, shelf), overdue: overdueStatement(schema, shelf) },
  }))
  const overdueOrphans = overdueOrphansStatement(schema)
  const [orphans, lock, remove] = [orphansStatement(schema), lockStatement(schema), removeStatement(schema)]

  /** Looks again when they are locked: somebody may have taken one up. */
  const removeOrphans = async (orphansMs: number): Promise<number> => {
    const found = await connection.api.ask<Orphan>(orphans, [orphansMs, null])
    if (found.length === 0) return 0
    return connection.api.transact(async (ask) => {
      const keys = [texts(found.map(({ workspace }) => workspace)), texts(found.map(({ key }) => key))]
      const locked = await ask<Orphan>(lock, keys)
      const still = await ask<Orphan>(orphans, [orphansMs, plain(locked.map(({ id }) => id))])
      if (still.length > 0) await ask(remove, [plain(still.map(({ id }) => id)), 'everytick'])
      return still.length
    })
  }

  return {
    pool: () => connection.usage(),
    health: createHealth(connection, schema),
    writeProblem: () => writeProblem(connection),
    async tidy(retention) {
      const tally = createTally()
      let more = false
      for (const [kind, table, keepMs] of daysOf(retention)) {
        await partitions.makeAhead(table)
        const dropped = await partitions.dropOldest(table, keepMs)
        tally.add(kind, dropped.rows)
        more ||= dropped.more
      }
      for (const { kind, keepMs, sweep } of shelves) {
        const [swept] = await connection.api.ask<{ rows: number }>(sweep, [keepMs(retention)])
        tally.add(kind, swept!.rows)
        more ||= swept!.rows === STEP_ROWS
      }
      await rewatch()
      const orphans = await removeOrphans(retention.orphansMs)
      const ended = retention.endedMs === null ? 0 : await schedules.remove(retention.endedMs)
      tally.add('orphans', orphans)
      tally.add('endedSchedules', ended)
      more ||= orphans === STEP_ORPHANS || ended === ENDED_ROWS
      return { removed: tally.removed, counts: tally.counts, more }
    },
    async overdue(retention) {
      const tally = createTally()
      const count = async (kind: Forgotten, statement: Statement, keepMs: number): Promise<void> => {
        const [found] = await connection.api.ask<{ rows: number }>(statement, [keepMs])
        tally.add(kind, found!.rows)
      }
      for (const [kind, table, keepMs] of daysOf(retention)) tally.add(kind, await partitions.countOver(table, keepMs))
      for (const { kind, keepMs, overdue } of shelves) await count(kind, overdue, keepMs(retention))
      await count('orphans', overdueOrphans, retention.orphansMs)
      if (retention.endedMs !== null) tally.add('endedSchedules', await schedules.count(retention.endedMs))
      return tally.counts
    },
  }
}

/** What goes by whole days. */
const daysOf = (retention: Retention): readonly (readonly [Forgotten, Partitioned, keepMs: number])[] => [
  ['runs', 'history', retention.historyMs],
  ['journal', 'journal', retention.journalMs],
  ['logs', 'logs', retention.historyMs],
]

const overdueStatement = (schema: string, { table, age }: Shelf): Statement =>
  prepared(`
select count(*) as rows from ${schema}.${table}
where ${age} < (select ${schema}.now_at()) - ${spanOf('$1::float8')}`)

const overdueOrphansStatement = (schema: string): Statement =>
  prepared(`
select count(*) as rows from ${schema}.schedules
where pause ->> 'by' = 'sync' and (pause ->> 'at')::float8 < ${msOf(`(select ${schema}.now_at())`)} - $1::float8`)

const sweepStatement = (schema: string, { table, age }: Shelf): Statement =>
  prepared(`
with gone as (
  delete from ${schema}.${table} where ctid = any(array(
    select ctid from ${schema}.${table} where ${age} < (select ${schema}.now_at()) - ${spanOf('$1::float8')}
    order by ${age} limit ${STEP_ROWS} for update skip locked
  ))
  returning 1
)
select count(*) as rows from gone`)

/** Paused by `sync` so long ago; of these ids, or of all. In order, as everybody locks them. */
const orphansStatement = (schema: string): Statement =>
  prepared(`
select id, workspace, key from (
  select id, workspace, key from ${schema}.schedules
  where pause ->> 'by' = 'sync' and (pause ->> 'at')::float8 < ${msOf(`(select ${schema}.now_at())`)} - $1::float8
    and ($2::text is null or id = any($2::text::uuid[]))
  order by updated_at limit ${STEP_ORPHANS}
) orphan order by workspace, key`)
