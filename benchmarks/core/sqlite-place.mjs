/** Fresh SQLite files for measurements, filled by SQL where that is quicker; the same interface as `postgres-place.mjs`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../dist/store/sqlite/driver.js'
import { openAt } from './address.mjs'
import { STRIDE, seedling } from './load.mjs'
import { sqliteLimit } from './sqlite-limit.mjs'

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
    /** There is no server: what the store costs, its process pays. */
    serverCpuMs: () => null,
    async drop() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Copies one schedule that the store itself has written, whatever columns it has. */
async function seed(store, path, { count, everyMs, firstAt }) {
  const first = seedling({ everyMs, firstAt })
  await store.schedules.put([first])
  const database = await openDatabase(path)
  const copier = (table, idColumn) => {
    const [row] = database.prepare(`select * from ${table} where ${idColumn} = ?`).all(first.id)
    const columns = Object.keys(row)
    const statement = database.prepare(`insert into ${table} values (${columns.map(() => '?').join()})`)
    return (changes) => statement.run(...columns.map((column) => changes[column] ?? row[column]))
  }
  const [schedule, cursor] = [copier('everytick_schedules', 'id'), copier('everytick_cursors', 'schedule_id')]
  database.exec('begin immediate')
  for (let i = 1; i < count; i++) {
    const id = `00000000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`
    const anchorAt = firstAt + Math.floor((((i * STRIDE) % count) * everyMs) / count)
    schedule({ id, key: `seeded-${i}`, timing: JSON.stringify({ ...first.definition.timing, anchorAt }) })
    cursor({ schedule_id: id, next_at: anchorAt })
  }
  database.exec('commit; pragma wal_checkpoint(truncate)')
  database.close()
}
