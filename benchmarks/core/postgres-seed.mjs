/** Fills a Postgres store by SQL where its verbs would take hours: copies of what the store itself has written, whatever columns it has. */
import { STRIDE, seedling } from './load.mjs'

/** A statement that writes more would hold more of its log at once than the server keeps. */
const COPIES = 1_000_000

/** Copies one schedule that the store itself has written, whatever columns it has. */
export async function seed(client, store, schedules) {
  const { count, everyMs, firstAt, spreadMs = everyMs } = schedules
  const first = seedling(schedules)
  await store.schedules.put([first])
  const copies = `
    select ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid as id, i,
      ${firstAt} + (i * ${STRIDE} % ${count}) * ${spreadMs} / ${count} as anchor
    from generate_series(1, ${count - 1}::bigint) i`
  const copy = (table, idColumn, changes) =>
    client.query(`
      insert into everytick.${table}
      select (jsonb_populate_record(t, ${changes})).* from (${copies}) c cross join everytick.${table} t
      where t.${idColumn} = '${first.id}'`)
  const timing = `t.timing::jsonb || jsonb_build_object('anchorAt', anchor)`
  await copy('schedules', 'id', `jsonb_build_object('id', c.id, 'key', 'seeded-' || i, 'timing', ${timing})`)
  await copy(
    'cursors',
    'schedule_id',
    `jsonb_build_object('schedule_id', c.id, 'next_at', to_timestamp(anchor / 1000.0))`,
  )
  // What the server would do by itself in the minutes after, and in the middle of a measurement.
  await client.query('vacuum analyze everytick.schedules, everytick.cursors')
  await client.query('checkpoint')
}

/** Adds `count` finished runs that differ from one that is there in their ids and by when they were made. */
export async function copyHistory(client, count) {
  if (count === 0) return
  const { rows } = await client.query(`
    select column_name as name from information_schema.columns
    where table_schema = 'everytick' and table_name = 'history' order by ordinal_position`)
  const changes = {
    id: `('00000000-0000-7000-9000-' || lpad(to_hex($1::bigint + i), 12, '0'))::uuid`,
    created_at: `t.created_at - ($1::bigint + i) * interval '1 millisecond'`,
  }
  const columns = rows.map(({ name }) => name)
  const text = `
    insert into everytick.history (${columns.join()})
    select ${columns.map((name) => changes[name] ?? `t.${name}`).join()}
    from (select * from everytick.history order by id desc limit 1) t, generate_series(1, $2::bigint) i`
  const [{ there }] = (await client.query(`select count(*)::int as there from everytick.history`)).rows
  for (let made = 0; made < count; made += COPIES) {
    await client.query(text, [there + made, Math.min(COPIES, count - made)])
  }
  await client.query('vacuum analyze everytick.history')
  await client.query('checkpoint')
}
