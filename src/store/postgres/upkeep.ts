/** Forgetting in Postgres: whole days of history and journal at once, everything else in bounded steps. */
import type { Retention, UpkeepStore } from '../contract/upkeep.ts'
import type { Connection } from './connection.ts'
import { createPartitions, type Partitioned } from './partitions.ts'
import { spanOf } from './rows.ts'
import { prepared, type Statement } from './statement.ts'

const STEP_ROWS = 1000

interface Shelf {
  readonly table: string
  /** When the row began to age; indexed. */
  readonly age: string
  readonly keepMs: (retention: Retention) => number
}

/** What goes row by row: the small tables, and days for which nobody had made a partition. */
const SHELVES: readonly Shelf[] = [
  { table: 'history_default', age: 'finished_at', keepMs: ({ historyMs }) => historyMs },
  { table: 'journal_default', age: 'at', keepMs: ({ journalMs }) => journalMs },
  { table: 'non_runs', age: 'recorded_at', keepMs: ({ journalMs }) => journalMs },
  { table: 'idempotency', age: 'created_at', keepMs: ({ idempotencyMs }) => idempotencyMs },
  { table: 'workers', age: 'seen_at', keepMs: ({ workersMs }) => workersMs },
]

export function createUpkeep(connection: Connection, schema: string): UpkeepStore {
  const partitions = createPartitions(connection, schema)
  const sweeps = SHELVES.map((shelf) => ({ keepMs: shelf.keepMs, statement: sweepStatement(schema, shelf) }))
  return {
    async tidy(retention) {
      let removed = 0
      let more = false
      const days: readonly (readonly [Partitioned, number])[] = [
        ['history', retention.historyMs],
        ['journal', retention.journalMs],
      ]
      for (const [table, keepMs] of days) {
        await partitions.makeAhead(table)
        const dropped = await partitions.dropOldest(table, keepMs)
        removed += dropped.rows
        more ||= dropped.more
      }
      for (const { keepMs, statement } of sweeps) {
        const [swept] = await connection.api.ask<{ rows: number }>(statement, [keepMs(retention)])
        removed += swept!.rows
        more ||= swept!.rows === STEP_ROWS
      }
      return { removed, more }
    },
  }
}

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
