/** Holds the SQLite index to the suite, with a second connection as the rival, and to what only a file can break. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type BadRow,
  createScheduleIndexConformanceTests,
  createSQLiteScheduleIndex,
  type ScheduleIndex,
  scheduleIndexDdl,
} from '../../src/schedule-index.ts'
import { type Database, openDatabase } from '../../src/store/sqlite/driver.ts'

const NINE = Date.parse('2026-11-16T09:00:00Z')
const row = { userId: 'ana', key: 'digest', cron: '0 9 * * *', nextFireAt: NINE }

const folder = mkdtempSync(join(tmpdir(), 'everytick-schedule-index-'))
const open: Database[] = []
let files = 0
afterAll(() => {
  for (const database of open) database.close()
  rmSync(folder, { recursive: true, force: true })
})

async function connection(path: string): Promise<Database> {
  const database = await openDatabase(path)
  database.exec('pragma busy_timeout = 0')
  open.push(database)
  return database
}

async function file(): Promise<{ path: string; database: Database }> {
  const path = join(folder, `${(files += 1)}.db`)
  const database = await connection(path)
  database.exec('pragma journal_mode = wal; pragma synchronous = off;')
  database.exec(scheduleIndexDdl('sqlite'))
  return { path, database }
}

/** The suite writes hundreds of bad rows on purpose. */
const QUIET = { onBadRow: () => {} }
const paths = new WeakMap<ScheduleIndex, string>()

createScheduleIndexConformanceTests('sqlite', {
  async createIndex() {
    const { path, database } = await file()
    const index = createSQLiteScheduleIndex(database, QUIET)
    paths.set(index, path)
    return index
  },
  createRival: async (index) => createSQLiteScheduleIndex(await connection(paths.get(index)!), QUIET),
  cleanup: () => {},
})

describe('the index in SQLite', () => {
  it('waits for another process that is writing', async () => {
    const { path, database } = await file()
    const other = await connection(path)
    const index = createSQLiteScheduleIndex(database)
    await index.upsert(row)
    other.exec('begin immediate')
    const waiting = Promise.all([index.claimDue(NINE), index.upsert({ ...row, key: 'sync' })])
    other.exec('commit')
    expect((await waiting)[0]).toEqual([row])
  })

  it('lets nobody in between its look and its write', async () => {
    const { path, database } = await file()
    const rival = createSQLiteScheduleIndex(await connection(path))
    await rival.upsert(row)
    let met: Promise<unknown> | undefined
    const watched = {
      exec: (text: string) => database.exec(text),
      prepare(text: string) {
        const statement = database.prepare(text)
        const all: typeof statement.all = (...values) => {
          const rows = statement.all(...values)
          met ??= rival.claimDue(NINE)
          return rows
        }
        return { all, run: statement.run.bind(statement) }
      },
    }
    expect(await createSQLiteScheduleIndex(watched).claimDue(NINE)).toEqual([row])
    expect(await met).toEqual([])
  })

  it('changes nothing when a claim fails half-way', async () => {
    const { database } = await file()
    const index = createSQLiteScheduleIndex(database)
    await index.upsert(row)
    await index.upsert({ ...row, key: 'sync' })
    database.exec(`create trigger full before update on schedule_index when old.key = 'sync'
      begin select raise(abort, 'disk is full'); end`)
    await expect(index.claimDue(NINE)).rejects.toThrow('disk is full')
    database.exec('drop trigger full')
    expect((await index.claimDue(NINE)).length).toBe(2)
  })

  it('leaves a transaction of the caller as it is: edits become part of it, and a claim is refused', async () => {
    const { database } = await file()
    const index = createSQLiteScheduleIndex(database)
    database.exec('begin')
    await index.upsert(row)
    await expect(index.claimDue(NINE)).rejects.toThrow(/transaction/)
    database.exec('rollback')
    expect(await index.claimDue(NINE)).toEqual([])
  })

  it('creates its table at the first call that misses it', async () => {
    const database = await connection(':memory:')
    const index = createSQLiteScheduleIndex(database)
    expect(await index.claimDue(NINE)).toEqual([])
    await index.upsert(row)
    database.exec('drop table schedule_index')
    await index.upsert(row)
    expect(await index.claimDue(NINE)).toEqual([row])
  })

  it('leaves the table to the caller with skipSchemaInit, and says how to create it', async () => {
    const database = await connection(':memory:')
    const index = createSQLiteScheduleIndex(database, { skipSchemaInit: true })
    await expect(index.claimDue(NINE)).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
    database.exec(scheduleIndexDdl('sqlite'))
    await index.upsert(row)
    expect(await index.claimDue(NINE)).toEqual([row])
  })

  it('tells of a bad row once, and keeps it', async () => {
    const { database } = await file()
    const told: BadRow[] = []
    const index = createSQLiteScheduleIndex(database, { onBadRow: (bad) => told.push(bad) })
    const bad = { ...row, cron: '0 25 * * *' }
    await index.upsert(bad)
    await index.claimDue(NINE)
    await index.claimDue(NINE + 1)
    expect(told).toEqual([{ row: bad, error: expect.objectContaining({ code: 'CRON_RANGE' }) }])
    expect(database.prepare('select next_fire_at from schedule_index').all()).toMatchObject([
      { next_fire_at: Number.MAX_SAFE_INTEGER },
    ])
  })

  it('logs a bad row when there is no listener for it', async () => {
    const { database } = await file()
    const index = createSQLiteScheduleIndex(database)
    await index.upsert({ ...row, cron: '0 25 * * *' })
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    expect(await index.claimDue(NINE)).toEqual([])
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/"digest" of user "ana" never fires: hour "25"/)]])
  })

  it('finds what is due by the index and without sorting', async () => {
    const { database } = await file()
    const asked = 'select key from schedule_index where next_fire_at <= 0 order by next_fire_at limit 1'
    const plan = database.prepare(`explain query plan ${asked}`).all() as { detail: string }[]
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('idx_schedule_index_next_fire_at')])
  })

  it('refuses what is no database', () => {
    expect(() => createSQLiteScheduleIndex('everytick.db' as never)).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    )
  })
})
