/** Holds the SQLite store to the contract: on a file, with a clock of the test's own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { openSqlite, type SqliteStore } from '../../src/sqlite.ts'
import { openDatabase, type Value } from '../../src/store/sqlite/driver.ts'
import { type OpenStore, type OpenTransaction, type StoreHarness, storeConformance } from '../../src/testing.ts'
import { openHeldSqlite } from './open-sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'everytick-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Opened {
  readonly path: string
  readonly clock: { at: number; now(): number; elapsed(): number }
}

const opened = new WeakMap<SqliteStore, Opened>()
let files = 0

const harness: StoreHarness<SqliteStore> = {
  async open() {
    const clock = {
      at: Date.parse('2026-11-15T12:00:00.123Z'),
      now: () => clock.at,
      elapsed: () => clock.at,
    }
    const path = join(folder, `${(files += 1)}.db`)
    const store = await openSqlite({ path, clock })
    opened.set(store, { path, clock })
    return store
  },
  close: (store) => store.close(),
  advance(store, ms) {
    opened.get(store)!.clock.at += ms
  },
  second: (store) => openSqlite({ ...opened.get(store)!, migrate: false }),
  async begin(store): Promise<OpenTransaction> {
    const database = await openDatabase(opened.get(store)!.path)
    database.exec('begin immediate')
    const end = async (how: string): Promise<void> => {
      database.exec(how)
      database.close()
    }
    const query = (text: string, values: unknown[] = []) => ({
      rows: database.prepare(text).all(...(values as Value[])),
    })
    return { tx: { query }, commit: () => end('commit'), rollback: () => end('rollback') }
  },
  async alter(store, { table, id, set }) {
    const database = await openDatabase(opened.get(store)!.path)
    try {
      expect(database.prepare(`update everytick_${table} set ${set} where id = ?`).run(id).changes).toBe(1)
    } finally {
      database.close()
    }
  },
  hold: (store): Promise<OpenStore> => openHeldSqlite(opened.get(store)!),
  absent: { parallel: 'SQLite lets in one writer at a time, so that a claim waits for any write in flight' },
}

storeConformance<SqliteStore>('sqlite', harness)
