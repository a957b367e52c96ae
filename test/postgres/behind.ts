/** What tests do to a schema behind the back of its store: move its clock, and empty it far faster than it could be made anew. */
import type pg from 'pg'

type Client = Pick<pg.Client, 'query'>

/** Sets the clock of the schema to the real one plus so many milliseconds. */
export async function setClock(client: Client, schema: string, aheadMs: number): Promise<void> {
  await client.query(
    `create or replace function "${schema}".now_at() returns timestamptz language sql volatile parallel safe
    as $$ select date_trunc('milliseconds', clock_timestamp()) + ${aheadMs} * interval '1 millisecond' $$`,
  )
}

const TABLES = 'schedules cursors runs history journal non_runs idempotency locks workers'.split(' ')

/** As it was when it had just been migrated, with the real clock. */
export async function emptySchema(client: Client, schema: string): Promise<void> {
  await client.query(TABLES.map((table) => `delete from "${schema}".${table};`).join('\n'))
  await setClock(client, schema, 0)
}
