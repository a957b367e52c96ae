/** Places whose database a test can look into: each store on an empty database, a clock for both, and a dump of every table. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Executor } from '../../src/index.ts'
import { openPostgres } from '../../src/postgres.ts'
import { openSqlite } from '../../src/sqlite.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import type { TestPlace } from '../../src/testing/test-everytick.ts'
import { createReadyDatabase } from '../postgres/ready-database.ts'
import { standingClock } from '../postgres/standing-clock.ts'

export interface OpenPlace extends TestPlace, AsyncDisposable {
  /** Every row of every table, as one text. */
  dump(): Promise<string>
  /** Does something inside a transaction on a connection of the caller's own. */
  within<T>(work: (tx: Executor) => Promise<T>): Promise<T>
}

async function sqlite(startAt: number): Promise<OpenPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-place-'))
  const path = join(folder, 'everytick.db')
  const clock = fakeClock(startAt)
  const store = await openSqlite({ path, clock })
  const other = await openDatabase(path)
  const all = (text: string): { name: string }[] => other.prepare(text).all() as { name: string }[]
  return {
    store,
    clock,
    async dump() {
      const tables = all(`select name from sqlite_master where type = 'table' order by name`)
      return JSON.stringify(tables.map(({ name }) => [name, all(`select * from "${name}" order by 1, 2`)]))
    },
    async within(work) {
      other.exec('begin immediate')
      try {
        const answer = await work({
          query: (text, values = []) => ({ rows: other.prepare(text).all(...(values as string[])) }),
        })
        other.exec('commit')
        return answer
      } catch (error) {
        other.exec('rollback')
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      other.close()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const TABLES = `select tablename as name from pg_tables where schemaname = 'everytick' order by 1`

async function postgres(startAt: number): Promise<OpenPlace> {
  const database = await createReadyDatabase()
  const store = await openPostgres({ url: database.url })
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  const moved = await standingClock(admin, startAt)
  return {
    store,
    clock: fakeClock(startAt),
    moved,
    async dump() {
      const tables: unknown[] = []
      for (const { name } of (await admin.query(TABLES)).rows) {
        const { rows } = await admin.query(`select t::text as row from everytick."${name}" t order by 1`)
        tables.push([name, rows])
      }
      return JSON.stringify(tables)
    },
    async within(work) {
      await admin.query('begin')
      try {
        const answer = await work(admin)
        await admin.query('commit')
        return answer
      } catch (error) {
        await admin.query('rollback')
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      await admin.end()
      await database.drop()
    },
  }
}

export const OPEN_PLACES = [
  ['SQLite', sqlite],
  ['Postgres', postgres],
] as const
