/** Reads where a server is in its history, and keeps the note that travels with the data; what follows from both is `lineage.ts`. */
import { EverytickError } from '../../errors.ts'
import type { Failover } from '../../observe/failover.ts'
import type { LogState } from './lineage.ts'
import { msOf } from './rows.ts'
import { type Ask, prepared, unprepared } from './statement.ts'

export interface Found {
  readonly now: LogState
  readonly stored: LogState | null
  readonly recorded: Failover | null
}

export interface FailoverNotes {
  read(ask: Ask): Promise<Found>
  /** Waits for others who read and write; to be called first in a transaction, so that what is read afterwards is newer. */
  lock(ask: Ask): Promise<void>
  /** Writes the note where it still is of this server and not behind `position`; null where it is not. */
  renew(ask: Ask, position: number): Promise<LogState | null>
  write(ask: Ask, state: LogState): Promise<void>
  record(ask: Ask, failover: Failover): Promise<void>
  list(ask: Ask, limit: number): Promise<Failover[]>
}

/** A role may lack the right where an administrator revoked it; then a restored copy looks like the server itself. */
const MAY_READ_SYSTEM = unprepared(`select has_function_privilege('pg_control_system()', 'execute') as may`)

/** Null where the role may not read the note, or the server does not show where its log is. */
export async function openFailoverNotes(ask: Ask, schema: string): Promise<FailoverNotes | null> {
  try {
    const [right] = await ask<{ may: boolean }>(MAY_READ_SYSTEM, [])
    const statements = statementsOf(schema, serverOf(schema, right!.may))
    await ask<Found>(statements.read, [])
    return notesOf(statements)
  } catch (error) {
    if (isLasting(error)) return null
    throw error
  }
}

const notesOf = ({ read, lock, renew, write, record, list }: ReturnType<typeof statementsOf>): FailoverNotes => ({
  read: async (ask) => (await ask<Found>(read, []))[0]!,
  lock: async (ask) => void (await ask(lock, [])),
  renew: async (ask, position) => (await ask<{ data: LogState }>(renew, [position]))[0]?.data ?? null,
  write: async (ask, state) => void (await ask(write, [JSON.stringify(state)])),
  record: async (ask, failover) => void (await ask(record, [failover.id, JSON.stringify(failover)])),
  list: async (ask, limit) => (await ask<{ data: Failover }>(list, [limit])).map(({ data }) => data),
})

const isLasting = (error: unknown): boolean =>
  error instanceof EverytickError && (error.code === 'STORE_DENIED' || error.code === 'STORE_UNUSABLE')

/** SQL for the state of the server, as one row. Only what is on disk counts: after a crash, the log goes on there. */
const serverOf = (schema: string, maySystem: boolean): string => `
select ${maySystem ? '(select system_identifier::text from pg_control_system())' : 'null::text'} as system,
  ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int as timeline,
  pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::float8 as position,
  ${msOf(`${schema}.now_at()`)} as at,
  current_setting('synchronous_standby_names') <> ''
    and current_setting('synchronous_commit') in ('on', 'remote_apply') as synchronous`

function statementsOf(schema: string, server: string) {
  const documents = `${schema}.documents`
  const note = `kind = 'position' and id = 'server log'`
  const now = `${schema}.now_at()`
  const failovers = `
select data from ${documents} where kind = 'failover' and (expires_at is null or expires_at > (select ${now}))
order by id desc`
  const insert = `
insert into ${documents} as d (kind, id, workspace, state, data, version, created_at, updated_at, expires_at)`
  const update =
    'on conflict (kind, id) do update set data = excluded.data, version = d.version + 1, updated_at = excluded.updated_at'
  const field = (row: string, name: string): string => `${row}.data->>'${name}'`
  const position = (row: string): string => `(${field(row, 'position')})::float8`
  return {
    read: unprepared(`
select to_json(server) as now, (select data from ${documents} where ${note}) as stored,
  (${failovers} limit 1) as recorded
from (${server}) server`),
    lock: unprepared(`select 1 from ${documents} where ${note} for update`),
    // Positions only grow on one server, whichever process writes last: one that went back would look like lost writes.
    renew: prepared(`
with server as materialized (${server})
update ${documents} d
set data = to_json(server), version = d.version + 1, updated_at = ${now}
from server
where ${note} and (${field('d', 'timeline')})::int = server.timeline
  and coalesce(${field('d', 'system')} = server.system, true) and ${position('d')} between $1::float8 and server.position
returning d.data`),
    write: unprepared(`${insert}
values ('position', 'server log', '', '', $1::text::json, 1, ${now}, ${now}, null) ${update}
where ${field('d', 'system')} is distinct from ${field('excluded', 'system')}
  or ${field('d', 'timeline')} is distinct from ${field('excluded', 'timeline')}
  or ${position('d')} <= ${position('excluded')}`),
    record: unprepared(`${insert}
values ('failover', $1::text, '', '', $2::text::json, 1, ${now}, ${now}, ${now} + interval '400 days') ${update}`),
    list: unprepared(`${failovers} limit $1::int`),
  }
}
