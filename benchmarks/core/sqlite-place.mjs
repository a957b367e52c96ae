/** Fresh SQLite files for measurements, filled by SQL where that is quicker; the same interface as `postgres-place.mjs`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../dist/store/sqlite/driver.js'
import { openAt } from './address.mjs'
import { sqliteLimit } from './sqlite-limit.mjs'
import { copyHistory, seed } from './sqlite-seed.mjs'

export async function sqlitePlaces() {
  const memory = await openDatabase(':memory:')
  const [{ version }] = memory.prepare('select sqlite_version() as version').all()
  memory.close()
  return {
    kind: 'sqlite',
    version,
    settings: { journal_mode: 'wal', synchronous: 'full' },
    fresh,
    async close() {},
  }
}

async function fresh() {
  const folder = mkdtempSync(join(tmpdir(), 'everytick-bench-'))
  const where = join(folder, 'everytick.db')
  const address = { kind: 'sqlite', where }
  await (await openAt(address)).close()
  return {
    address,
    open: () => openAt(address),
    limit: () => sqliteLimit(join(folder, 'limit.db')),
    async seed(schedules) {
      const store = await openAt(address)
      await seed(store, where, schedules)
      await store.close()
    },
    copyHistory: (count) => copyHistory(where, count),
    /** As a forgotten cursor does: the write-ahead log cannot be begun anew. Answers how to end it. */
    async holdSnapshot() {
      const database = await openDatabase(where)
      database.exec('begin')
      database.prepare('select count(*) from everytick_workers').all()
      return async () => database.close()
    },
    /** A store, and the CPU of the process that pays for it, which is this one, in microseconds. */
    async metered() {
      const store = await openAt(address)
      const cpuUs = () => {
        const { user, system } = process.cpuUsage()
        return user + system
      }
      return { store, cpuUs, close: () => store.close() }
    },
    /** There is no server: what the store costs, its process pays. */
    serverCpuMs: () => null,
    async drop() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
