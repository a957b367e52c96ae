/** Fills a Postgres store by SQL where its verbs would take hours: copies of what the store itself has written, whatever columns it has. */
import { checkHistory, checkSchedules, DAY_MS, perDay, seedling } from './seeding.mjs'

/** The server's own session only: what is measured afterwards commits as durably as ever. */
const HASTE = `set synchronous_commit = off; set maintenance_work_mem = '512MB'; set max_parallel_maintenance_workers = 2`

/** Fewer rows than this leave nothing behind that the server would have to write later. */
const MUCH = 10_000

/** Copies one schedule that the store itself has written. */
export async function seed(client, store, schedules) {
  const batch = seedling(schedules)
  const { count, firstAt, spreadMs } = batch
  const { id: firstId, definition } = batch.first
  await store.schedules.put([batch.first])
  const anchor = `(${firstAt} + (i * ${batch.stride} % ${count}) * ${spreadMs}::bigint / ${count})`
  const id = `('${batch.idBegin}' || lpad(to_hex(i), 12, '0'))::uuid`
  await client.query(HASTE)
  const copy = async (table, idColumn, changes) => {
    const columns = await columnsOf(client, table)
    await client.query(`
      insert into everytick.${table} (${columns.map(({ name }) => name).join()})
      select ${columns.map(({ name, type }) => changes(type)[name] ?? `t.${name}`).join()}
      from (select * from everytick.${table} where ${idColumn} = '${firstId}') t
      cross join generate_series(1, ${count - 1}::bigint) i`)
  }
  await copy('schedules', 'id', (type) => ({
    id,
    key: `'${batch.keyBegin}' || lpad(i::text, 8, '0')`,
    timing: `replace(t.timing::text, '${definition.timing.anchorAt}', ${anchor}::text)::${type}`,
  }))
  await copy('cursors', 'schedule_id', () => ({ schedule_id: id, next_at: `to_timestamp(${anchor} / 1000.0)` }))
  // What the server would do by itself in the minutes after, and in the middle of a measurement: also with its own tables,
  // which a new schema has filled.
  await tellCounts(client)
  await client.query('vacuum analyze')
  if (count >= MUCH) await client.query('checkpoint')
  await checkSchedules(store, batch)
}

/**
 * Adds `count` finished runs that differ from one that is there in their ids and instants, spread over the days before
 * today, and before those that are filled already: each day is filled as a table of its own, two at a time, and gets its indexes when it becomes a partition.
 */
export async function copyHistory(inSession, store, { count, daysFilled }) {
  const days = perDay(count)
  const { columns, today } = await inSession(async (client) => ({
    columns: await columnsOf(client, 'history'),
    today: Number(
      (await client.query(`select extract(epoch from date_trunc('day', now(), 'UTC')) * 1000 as at`)).rows[0].at,
    ),
  }))
  const parts = days.map((size, i) => ({
    size,
    fromAt: today - (daysFilled + i + 1) * DAY_MS,
    name: nameOf(today - (daysFilled + i + 1) * DAY_MS),
  }))
  const waiting = [...parts]
  const line = () =>
    inSession(async (client) => {
      await client.query(HASTE)
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) await fillDay(client, columns, part)
    })
  await Promise.all([line(), line()])
  await inSession(async (client) => {
    await client.query(HASTE)
    for (const { name, fromAt } of parts) {
      const [from, to] = [fromAt, fromAt + DAY_MS].map((at) => new Date(at).toISOString())
      await client.query(
        `alter table everytick.history attach partition everytick.${name} for values from ('${from}') to ('${to}')`,
      )
    }
    await client.query('analyze everytick.history')
    if (count >= MUCH) await client.query('checkpoint')
  })
  await checkHistory(store, { fromAt: parts.at(-1).fromAt, size: parts.at(-1).size })
}

async function fillDay(client, columns, { size, fromAt, name }) {
  // Instants of whole milliseconds, as the store's own; the id begins with its own instant.
  const at = `(${fromAt}::bigint + i * ${DAY_MS}::bigint / ${size + 1})`
  const instant = `to_timestamp(${at} / 1000.0)`
  const changes = {
    id: `(lpad(to_hex(${at}), 12, '0') || '7' || lpad(to_hex(i & 4095), 3, '0') || '9' || lpad(to_hex(i), 15, '0'))::uuid`,
    ...Object.fromEntries(['created_at', 'due_at', 'started_at', 'finished_at'].map((column) => [column, instant])),
  }
  await client.query(`create table everytick.${name} (like everytick.history including defaults including constraints)`)
  await client.query(`
    insert into everytick.${name} (${columns.map((column) => column.name).join()})
    select ${columns.map((column) => changes[column.name] ?? `t.${column.name}`).join()}
    from (select * from everytick.history order by id desc limit 1) t cross join generate_series(1, ${size}::bigint) i`)
  // What the server would have done long ago.
  await tellCounts(client)
  await client.query(`vacuum (freeze) everytick.${name}`)
}

/**
 * A session counts what it wrote, and tells once a second: after a vacuum, it would seem to be written since, and be
 * vacuumed again. Before version 15 it cannot be asked to.
 */
const tellCounts = (client) => client.query('select pg_stat_force_next_flush()').catch(() => {})

const nameOf = (at) => `history_${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}`

const columnsOf = async (client, table) =>
  (
    await client.query(
      `select column_name as name, udt_name as type from information_schema.columns
      where table_schema = 'everytick' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
      [table],
    )
  ).rows
