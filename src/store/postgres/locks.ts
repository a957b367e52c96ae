/** Leases on singleton background tasks in Postgres, each taken, kept and given up by one conditional write. */
import type { Lock, LockStore } from '../contract/locks.ts'
import type { Connection } from './connection.ts'
import { msOf, spanOf } from './rows.ts'
import { prepared, type Statement } from './statement.ts'

export function createLocks(connection: Connection, schema: string): LockStore {
  const [acquire, release, list] = [acquireStatement(schema), releaseStatement(schema), listStatement(schema)]
  const { ask } = connection.hot
  return {
    async acquire(name, holder, leaseMs) {
      const [row] = await ask<{ fence: number; until: number }>(acquire, [name, holder, leaseMs])
      return row ? { name, holder, ...row } : null
    },
    async release({ name, holder, fence }) {
      await ask(release, [name, holder, fence])
    },
    list: () => ask<Lock>(list, []),
  }
}

/** One that another holds is seen to be so first: whoever only stands by then writes nothing. */
const acquireStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now)
insert into ${schema}.locks as l (name, holder, fence, lease_until)
select $1::text, $2::text, 1, now + ${spanOf('$3::float8')} from clock
where (
  select 1 from ${schema}.locks taken
  where taken.name = $1::text and taken.holder <> $2::text and taken.lease_until > now limit 1
) is null
on conflict (name) do update
set holder = excluded.holder, lease_until = excluded.lease_until,
  fence = case when l.holder = excluded.holder then l.fence else l.fence + 1 end
where l.holder = excluded.holder or l.lease_until <= (select now from clock)
returning l.fence, ${msOf('l.lease_until')} as until`)

/** The row stays, since the next holder's fence has to be higher. */
const releaseStatement = (schema: string): Statement =>
  prepared(`
update ${schema}.locks set holder = '', lease_until = to_timestamp(0)
where name = $1::text and holder = $2::text and fence = $3::bigint`)

const listStatement = (schema: string): Statement =>
  prepared(`
select name, holder, fence, ${msOf('lease_until')} as until from ${schema}.locks where holder <> '' order by name`)
