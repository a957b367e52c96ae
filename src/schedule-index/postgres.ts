/** The index in Postgres: claims lock only rows that nobody else holds, and move them by one statement; what is claimed is decided by `claim.ts`. */
import { EverytickError } from '../errors.ts'
import { type Move, startClaim } from './claim.ts'
import { DEFAULT_LIMIT, readIdentity, readRow, type ScheduleIndex, type ScheduleIndexOptions } from './contract.ts'
import type { PostgresExecutor, PostgresTransaction } from './postgres-executor.ts'
import { rowOf, type StoredRow, withTable } from './table.ts'

const UPSERT = `
  insert into schedule_index (user_id, key, cron, timezone, next_fire_at) values ($1, $2, $3, $4, $5)
  on conflict (user_id, key) do update
  set cron = excluded.cron, timezone = excluded.timezone, next_fire_at = excluded.next_fire_at`

const REMOVE = 'delete from schedule_index where user_id = $1 and key = $2'

// Ordered by the indexed column alone: a spike due at one instant is then read from the index and never sorted.
const DUE = `
  select user_id, key, cron, timezone, next_fire_at from schedule_index
  where next_fire_at <= $1
  order by next_fire_at limit $2 for update skip locked`

const MOVE = `
  update schedule_index as held set next_fire_at = moved.next_fire_at
  from unnest($1::text[], $2::text[], $3::bigint[]) as moved (user_id, key, next_fire_at)
  where held.user_id = moved.user_id and held.key = moved.key`

export function createPostgresScheduleIndex(
  executor: PostgresExecutor,
  options: ScheduleIndexOptions = {},
): ScheduleIndex {
  if (typeof executor?.query !== 'function' || typeof executor.beginTx !== 'function') {
    throw new EverytickError('OPTION_INVALID', 'the executor has no query() or no beginTx()', {
      hint: 'for a pool of pg, pass fromPgPool(pool)',
    })
  }
  const createTable = options.skipSchemaInit ? null : (ddl: string) => runEach(executor, ddl)
  const run = <Answer>(work: () => Promise<Answer>) => withTable('postgres', createTable, work)
  return {
    async upsert(row) {
      const { userId, key, cron, timezone = null, nextFireAt } = readRow(row)
      await run(async () => executor.query(UPSERT, [userId, key, cron, timezone, nextFireAt]))
    },
    async claimDue(now, limit = DEFAULT_LIMIT) {
      const claim = startClaim(now, limit)
      if (claim.wanted === 0) return []
      await run(() =>
        transaction(executor, async (tx) => {
          while (claim.wanted > 0) {
            const { rows } = await tx.query(DUE, [claim.now, claim.wanted])
            const moves = claim.take((rows as StoredRow[]).map(rowOf))
            if (moves.length > 0) await tx.query(MOVE, columnsOf(moves))
          }
        }),
      )
      return claim.finish(options)
    },
    async remove(userId, key) {
      const row = readIdentity(userId, key)
      await run(async () => executor.query(REMOVE, [row.userId, row.key]))
    },
  }
}

async function transaction(
  executor: PostgresExecutor,
  work: (tx: PostgresTransaction) => Promise<void>,
): Promise<void> {
  const tx = await executor.beginTx()
  try {
    await work(tx)
  } catch (error) {
    await Promise.resolve(tx.rollback()).catch(() => {}) // what went wrong first is what the caller should hear of
    throw error
  }
  await tx.commit()
}

/** One statement at a time, because a client may prepare what it is given, and only single statements can be prepared. */
async function runEach(executor: PostgresExecutor, ddl: string): Promise<void> {
  for (const statement of ddl.split(';').filter((text) => text.trim() !== '')) await executor.query(statement, [])
}

const columnsOf = (moves: readonly Move[]): unknown[] => [
  moves.map(({ userId }) => userId),
  moves.map(({ key }) => key),
  moves.map(({ nextFireAt }) => nextFireAt),
]
