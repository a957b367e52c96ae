/** Leases on singleton background tasks in SQLite, each taken, kept and given up by one conditional write. */
import type { Clock } from '../../time/clock.ts'
import type { LockStore } from '../contract/locks.ts'
import type { Connection } from './connection.ts'
import { textOf } from './rows.ts'

const ACQUIRE = `
  insert into everytick_locks (name, holder, fence, lease_until) values (?, ?, 1, ?)
  on conflict (name) do update
  set holder = excluded.holder, lease_until = excluded.lease_until, fence = fence + (holder <> excluded.holder)
  where holder = excluded.holder or lease_until <= ?
  returning fence`
// The row stays, since the next holder's fence has to be higher.
const RELEASE = `
  update everytick_locks set holder = '', lease_until = 0 where name = ? and holder = ? and fence = ?`
const LIST = `select name, holder, fence, lease_until as "until" from everytick_locks where holder <> '' order by name`

interface LockRow {
  readonly name: string
  readonly holder: string
  readonly fence: number
  readonly until: number
}

export function lockStore(connection: Connection, clock: Clock): LockStore {
  return {
    acquire: (name, holder, leaseMs) =>
      connection.write(() => {
        const now = clock.now()
        const until = now + leaseMs
        const values = [textOf(name, 'name'), textOf(holder, 'holder'), until, now]
        const [row] = connection.all<{ fence: number }>(ACQUIRE, ...values)
        return row === undefined ? null : { name, holder, fence: row.fence, until }
      }),
    release: ({ name, holder, fence }) =>
      connection.write(() => {
        connection.run(RELEASE, name, holder, fence)
      }),
    list: () => connection.read(() => connection.all<LockRow>(LIST).map((row) => ({ ...row }))),
  }
}
