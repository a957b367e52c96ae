/** Fresh SQLite files for measurements, filled by SQL where that is quicker; the same interface as `postgres-place.mjs`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../dist/store/sqlite/driver.js'
import { openAt } from './address.mjs'
import { HISTORY_DAYS } from './seeding.mjs'
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
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // A file of ten million runs is too large to be left behind by a run that is broken off.
  process.once('exit', remove)
  const where = join(folder, 'everytick.db')
  const address = { kind: 'sqlite', where }
  await (await openAt(address)).close()
  let daysFilled = 0
  return {
    address,
    open: () => openAt(address),
    limit: () => sqliteLimit(join(folder, 'limit.db')),
    /** While nobody else has it open. */
    seed: (schedules) => seed(where, () => openAt(address), schedules),
    async copyHistory(count) {
      if (count === 0) return
      await copyHistory(where, () => openAt(address), { count, daysFilled })
      daysFilled += HISTORY_DAYS
    },
    /** What has moved on leaves nothing behind. */
    async tidyPlans() {},
    /** As a forgotten cursor does: the write-ahead log cannot be begun again. Answers how to end it. */
    async holdSnapshot() {
      const database = await openDatabase(where)
      database.exec('begin')
      database.prepare('select count(*) from everytick_workers').all()
      return async () => database.close()
    },
    /** A store; there is no server, and the pages are those that this process wrote, or null where nobody tells. */
    async metered() {
      const store = await openAt(address)
      return { store, pages: async () => pagesWritten(), serverCpuUs: () => 0, close: () => store.close() }
    },
    /** There is no server: what the store costs, its process pays. */
    serverCpuMs: () => null,
    async drop() {
      process.off('exit', remove)
      remove()
    },
  }
}

const PAGE_BYTES = 4096

/** Into the write-ahead log, and from there into the file. */
function pagesWritten() {
  try {
    return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))[1]) / PAGE_BYTES
  } catch {
    return null
  }
}
