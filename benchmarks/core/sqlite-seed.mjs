/** Fills a SQLite store by SQL where its verbs would take hours: copies of what the store itself has written, whatever columns it has. */
import { openDatabase } from '../../dist/store/sqlite/driver.js'
import { STRIDE, seedling } from './load.mjs'

/** All of one transaction stands in the write-ahead log at once. */
const COPIES = 200_000

/** Copies one schedule that the store itself has written, whatever columns it has. */
export async function seed(store, path, schedules) {
  const { count, everyMs, firstAt, spreadMs = everyMs } = schedules
  const first = seedling(schedules)
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
    const anchorAt = firstAt + Math.floor((((i * STRIDE) % count) * spreadMs) / count)
    schedule({ id, key: `seeded-${i}`, timing: JSON.stringify({ ...first.definition.timing, anchorAt }) })
    cursor({ schedule_id: id, next_at: anchorAt })
  }
  database.exec('commit; pragma wal_checkpoint(truncate)')
  database.close()
}

/** Adds `count` finished runs that differ from one that is there in their ids and by when they were made. */
export async function copyHistory(path, count) {
  if (count === 0) return
  const database = await openDatabase(path)
  const columns = database.prepare('pragma table_info(everytick_history)').all()
  const changes = {
    id: `printf('00000000-0000-7000-9000-%012x', ? + i)`,
    created_at: 't.created_at - (? + i)',
  }
  const statement = database.prepare(`
    with recursive counted(i) as (select 1 union all select i + 1 from counted where i < ?)
    insert into everytick_history (${columns.map(({ name }) => name).join()})
    select ${columns.map(({ name }) => changes[name] ?? `t.${name}`).join()}
    from (select * from everytick_history order by id desc limit 1) t, counted`)
  const [{ there }] = database.prepare('select count(*) as there from everytick_history').all()
  for (let made = 0; made < count; made += COPIES) {
    const from = there + made
    statement.run(Math.min(COPIES, count - made), from, from)
    database.exec('pragma wal_checkpoint(truncate)')
  }
  database.close()
}
