/** The days of history, journal and logs: makes those ahead, drops those that are over; how long a day is kept is decided by `upkeep.ts`. */
import type { Connection } from './connection.ts'
import { isBusy, isForbidden } from './failure.ts'
import { type Ask, type Statement, unprepared } from './statement.ts'

export type Partitioned = 'history' | 'journal' | 'logs'

/** A week, so that a janitor may be away for days. */
const DAYS_AHEAD = 7
/** Everybody who writes waits behind whoever waits for a whole table. */
const LOCK_TIMEOUT = unprepared(`select set_config('lock_timeout', '250ms', true)`)

export interface Dropped {
  readonly rows: number
  /** Whether another day is over too. */
  readonly more: boolean
}

export interface Partitions {
  /** Looks first, since making takes locks. */
  makeAhead(table: Partitioned): Promise<void>
  /** Drops the oldest day that ended `keepMs` ago or earlier. */
  dropOldest(table: Partitioned, keepMs: number): Promise<Dropped>
  /** How many rows are in all days that ended `keepMs` ago or earlier. */
  countOver(table: Partitioned, keepMs: number): Promise<number>
}

export function createPartitions(connection: Connection, schema: string): Partitions {
  const missing = unprepared(`
select count(*) as days from generate_series(0, ${DAYS_AHEAD}) as ahead
where to_regclass('${schema}.' || $1::text || to_char((${schema}.now_at() at time zone 'UTC')::date + ahead, '"_"YYYYMMDD')) is null`)
  const make = unprepared(`select ${schema}.make_partitions($1::text, ${DAYS_AHEAD})`)
  const over = (limit: string): Statement =>
    unprepared(`
select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
where inhparent = to_regclass('${schema}.' || $1::text) and child.relname ~ ('^' || $1::text || '_[0-9]{8}$')
  and right(child.relname, 8)
    < to_char((${schema}.now_at() at time zone 'UTC') - $2::float8 * interval '1 millisecond', 'YYYYMMDD')
order by child.relname ${limit}`)
  const [oldestTwo, all] = [over('limit 2'), over('')]

  /** Whatever cannot be had soon, or at all, is left for the next time. */
  const alone = async <Answer>(work: (ask: Ask) => Promise<Answer>): Promise<Answer | null> => {
    try {
      return await connection.api.transact(async (ask) => {
        await ask(LOCK_TIMEOUT, [])
        return work(ask)
      })
    } catch (error) {
      if (isBusy(error) || isForbidden(error)) return null
      throw error
    }
  }

  return {
    async makeAhead(table) {
      const [found] = await connection.api.ask<{ days: number }>(missing, [table])
      if (found!.days > 0) await alone((ask) => ask(make, [table]))
    },
    async dropOldest(table, keepMs) {
      const [oldest, next] = await connection.api.ask<{ name: string }>(oldestTwo, [table, keepMs])
      if (!oldest) return { rows: 0, more: false }
      const partition = `${schema}."${oldest.name}"`
      const rows = await alone(async (ask) => {
        const [counted] = await ask<{ rows: number }>(unprepared(`select count(*) as rows from ${partition}`), [])
        await ask(unprepared(`drop table ${partition}`), [])
        return counted!.rows
      })
      return { rows: rows ?? 0, more: rows !== null && next !== undefined }
    },
    async countOver(table, keepMs) {
      let rows = 0
      for (const { name } of await connection.api.ask<{ name: string }>(all, [table, keepMs])) {
        const count = unprepared(`select count(*) as rows from ${schema}."${name}"`)
        rows += (await connection.api.ask<{ rows: number }>(count, []))[0]!.rows
      }
      return rows
    },
  }
}
