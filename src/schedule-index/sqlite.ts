/** The index in SQLite: one writer at a time claims and moves; what is claimed is decided by `claim.ts`. */
import { setTimeout as later } from 'node:timers/promises'
import { EverytickError } from '../errors.ts'
import { type Claim, startClaim } from './claim.ts'
import { DEFAULT_LIMIT, readIdentity, readRow, type ScheduleIndex, type ScheduleIndexOptions } from './contract.ts'
import { rowOf, type StoredRow, withTable } from './table.ts'

type Value = string | number | null

/** What `node:sqlite`, `@photostructure/sqlite` and `better-sqlite3` have in common. */
export interface SqliteDatabase {
  exec(text: string): unknown
  prepare(text: string): SqliteStatement
}

export interface SqliteStatement {
  run(...values: Value[]): unknown
  all(...values: Value[]): unknown[]
}

const UPSERT = `
  insert into schedule_index (user_id, key, cron, timezone, next_fire_at) values (?, ?, ?, ?, ?)
  on conflict (user_id, key) do update
  set cron = excluded.cron, timezone = excluded.timezone, next_fire_at = excluded.next_fire_at`
const REMOVE = 'delete from schedule_index where user_id = ? and key = ?'
const DUE = `
  select user_id, key, cron, timezone, next_fire_at from schedule_index
  where next_fire_at <= ?
  order by next_fire_at limit ?`
const MOVE = 'update schedule_index set next_fire_at = ? where user_id = ? and key = ?'

export function createSQLiteScheduleIndex(db: SqliteDatabase, options: ScheduleIndexOptions = {}): ScheduleIndex {
  if (typeof db?.exec !== 'function' || typeof db.prepare !== 'function') {
    throw new EverytickError('OPTION_INVALID', 'the database has no exec() or no prepare()', {
      hint: 'pass a DatabaseSync of node:sqlite, or a database of better-sqlite3',
    })
  }
  // Prepared at first use, because the table may be made after the index.
  const prepared = new Map<string, SqliteStatement>()
  const statement = (text: string): SqliteStatement => {
    let found = prepared.get(text)
    if (found === undefined) prepared.set(text, (found = db.prepare(text)))
    return found
  }
  const takeAll = (claim: Claim): void => {
    while (claim.wanted > 0) {
      const rows = statement(DUE).all(claim.now, claim.wanted) as StoredRow[]
      for (const { userId, key, nextFireAt } of claim.take(rows.map(rowOf))) {
        statement(MOVE).run(nextFireAt, userId, key)
      }
    }
  }
  const createTable = options.skipSchemaInit ? null : (ddl: string) => whenFree(() => void db.exec(ddl))
  const run = <Answer>(work: () => Answer) => withTable('sqlite', createTable, () => whenFree(work))
  return {
    async upsert(row) {
      const { userId, key, cron, timezone = null, nextFireAt } = readRow(row)
      await run(() => void statement(UPSERT).run(userId, key, cron, timezone, nextFireAt))
    },
    async claimDue(now, limit = DEFAULT_LIMIT) {
      return await run(() => {
        const claim = startClaim(now, limit) // again for each try, for a try that failed has judged rows in vain
        if (claim.wanted > 0) immediately(db, () => takeAll(claim))
        return claim
      }).then((claim) => claim.finish(options))
    },
    async remove(userId, key) {
      const row = readIdentity(userId, key)
      await run(() => void statement(REMOVE).run(row.userId, row.key))
    },
  }
}

/** Takes the right to write before it reads, so that no other connection can claim what was read. */
function immediately(db: SqliteDatabase, work: () => void): void {
  db.exec('begin immediate') // outside of `try`: if this fails, what is open is the caller's transaction and not ours to end
  try {
    work()
    db.exec('commit')
  } catch (error) {
    try {
      db.exec('rollback')
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
    throw error
  }
}

const PAUSE_MS = 10
const TRIES = 500

/** Does the work when no other process is writing. The event loop is free between two tries, never within one. */
async function whenFree<Answer>(work: () => Answer): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return work()
    } catch (error) {
      if (tries === TRIES || !isBusy(error)) throw error
    }
    await later(PAUSE_MS)
  }
}

const BUSY = 5

/** By the number in Node's own module and its twin, by the name in better-sqlite3. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { errcode, code } = error as { errcode?: unknown; code?: unknown }
  return (typeof errcode === 'number' && (errcode & 0xff) === BUSY) || String(code).startsWith('SQLITE_BUSY')
}
