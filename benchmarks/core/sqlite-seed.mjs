/** Fills a SQLite store by SQL where its verbs would take hours: copies of what the store itself has written, whatever columns it has. */
import { openDatabase } from '../../dist/store/sqlite/driver.js'
import { checkHistory, checkSchedules, DAY_MS, perDay, seedling } from './seeding.mjs'

/** For the filling only; what is measured afterwards is as durable as ever. Whoever else has the file open sees only whole transactions. */
const HASTE = `
  pragma busy_timeout = 10000; pragma synchronous = off; pragma wal_autocheckpoint = 0;
  pragma cache_size = -512000; pragma temp_store = memory; pragma threads = 2`

/** Copies one schedule that the store itself has written. */
export async function seed(path, open, schedules) {
  const batch = seedling(schedules)
  const { count, firstAt, spreadMs } = batch
  const { id: firstId, definition } = batch.first
  await using(open, (store) => store.schedules.put([batch.first]))
  const anchor = `(${firstAt} + (i * ${batch.stride} % ${count}) * ${spreadMs} / ${count})`
  const id = `printf('${batch.idBegin}%012x', i)`
  await inHaste(path, (database) => {
    copy(database, 'everytick_schedules', {
      from: `id = '${firstId}'`,
      count: count - 1,
      changes: {
        id,
        key: `printf('${batch.keyBegin}%08d', i)`,
        timing: `replace(t.timing, '${definition.timing.anchorAt}', ${anchor})`,
      },
    })
    copy(database, 'everytick_cursors', {
      from: `schedule_id = '${firstId}'`,
      count: count - 1,
      changes: { schedule_id: id, next_at: anchor },
    })
  })
  await using(open, (store) => checkSchedules(store, batch))
}

/** Adds `count` finished runs that differ from one that is there in their ids and instants, spread over the days before today. */
export async function copyHistory(path, open, { count, daysFilled }) {
  const days = perDay(count)
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const parts = days.map((size, i) => ({ size, fromAt: today - (daysFilled + days.length - i) * DAY_MS }))
  await inHaste(
    path,
    (database) => {
      const [{ id }] = database.prepare('select id from everytick_history order by id desc limit 1').all()
      for (const { size, fromAt } of parts) {
        const at = `(${fromAt} + i * ${DAY_MS} / ${size + 1})`
        const changes = {
          id: `printf('%08x-%04x-7%03x-9000-%012x', ${at} >> 16, ${at} & 65535, i & 4095, i)`,
          ...Object.fromEntries(['created_at', 'due_at', 'started_at', 'finished_at'].map((column) => [column, at])),
        }
        copy(database, 'everytick_history', { from: `id = '${id}'`, count: size, changes })
        // All of one transaction stands in the write-ahead log at once, and a day is enough of that.
        database.exec('commit; pragma wal_checkpoint(truncate); begin immediate')
      }
    },
    'everytick_history',
  )
  await using(open, (store) => checkHistory(store, parts[0]))
}

function copy(database, table, { from, count, changes }) {
  const columns = database.prepare(`pragma table_info(${table})`).all()
  database.exec(`
    with recursive counted(i) as (select 1 union all select i + 1 from counted where i < ${count})
    insert into ${table} (${columns.map(({ name }) => name).join()})
    select ${columns.map(({ name }) => changes[name] ?? `t.${name}`).join()}
    from (select * from ${table} where ${from}) t cross join counted where i <= ${count}`)
}

/** Indexes of the table that is named are made again afterwards. */
async function inHaste(path, work, indexed = '') {
  const database = await openDatabase(path)
  try {
    database.exec(HASTE)
    const indexes = database
      .prepare(`select name, sql from sqlite_master where type = 'index' and sql is not null and tbl_name = ?`)
      .all(indexed)
    database.exec('begin immediate')
    for (const { name } of indexes) database.exec(`drop index ${name}`)
    work(database)
    for (const { sql } of indexes) database.exec(sql)
    database.exec('commit; pragma wal_checkpoint(truncate)')
  } finally {
    database.close()
  }
}

async function using(open, work) {
  const store = await open()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
