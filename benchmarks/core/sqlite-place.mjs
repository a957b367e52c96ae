/** Fresh SQLite files for measurements, filled by SQL where that is quicker; the same interface as `postgres-place.mjs`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../dist/store/sqlite/driver.js'
import { openAt } from './address.mjs'
import { CATCH_UP, noop, seededAt } from './load.mjs'
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
    seed: (schedules) => seed(where, schedules),
    /** There is no server: what the store costs, its process pays. */
    serverCpuMs: () => null,
    async drop() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const SCHEDULE = `
  insert into everytick_schedules (id, workspace, key, revision, timing, job, queue, payload, priority, policy, catch_up,
    description, tags, metadata, source, created_at, updated_at)
  values (?, 'seeded', ?, 1, ?, '${noop.name}', '${noop.queue}', 'null', ${noop.priority}, ?, ?, '', '[]', 'null', 'api', ?, ?)`
const CURSOR = `insert into everytick_cursors (schedule_id, next_at, watermark_at, revision) values (?, ?, ?, 1)`

async function seed(path, { count, everyMs, firstAt }) {
  const database = await openDatabase(path)
  const [schedule, cursor] = [database.prepare(SCHEDULE), database.prepare(CURSOR)]
  const [policy, catchUp] = [JSON.stringify(noop.policy), JSON.stringify(CATCH_UP)]
  database.exec('begin immediate')
  for (let i = 0; i < count; i++) {
    const id = `00000000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`
    const anchorAt = seededAt(i, { count, everyMs, firstAt })
    const timing = JSON.stringify({ kind: 'interval', everyMs, anchorAt })
    schedule.run(id, `seeded-${i}`, timing, policy, catchUp, firstAt, firstAt)
    cursor.run(id, anchorAt, firstAt - 1)
  }
  database.exec('commit; pragma wal_checkpoint(truncate)')
  database.close()
}
