/** The list of live processes in SQLite, for people; nothing is claimed by it. */
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { WorkerInfo, WorkerStore } from '../contract/workers.ts'
import type { Connection } from './connection.ts'
import { textOf } from './rows.ts'

const PRESENCE = `
  insert into everytick_workers (id, info, started_at, seen_at) values (?, ?, ?, ?)
  on conflict (id) do update set info = excluded.info, seen_at = excluded.seen_at
  returning draining`
const DRAIN = `update everytick_workers set draining = 1 where id = ?`
const LEAVE = `delete from everytick_workers where id = ?`
const LIST = `select info, started_at, seen_at, draining from everytick_workers order by started_at, id`

interface WorkerRowText {
  readonly info: string
  readonly started_at: number
  readonly seen_at: number
  readonly draining: number
}

export function workerStore(connection: Connection, clock: Clock): WorkerStore {
  return {
    async reportPresence(worker) {
      const info = toJsonText(worker, { what: 'worker' })
      const id = textOf(worker.id, 'id')
      const [row] = await connection.write(() => {
        const now = clock.now()
        return connection.all<{ draining: number }>(PRESENCE, id, info, now, now)
      })
      return { draining: row?.draining === 1 }
    },
    drain: (id) => connection.write(() => connection.run(DRAIN, id) > 0),
    leave: (id) =>
      connection.write(() => {
        connection.run(LEAVE, id)
      }),
    async list() {
      const rows = await connection.read(() => connection.all<WorkerRowText>(LIST))
      return rows.map(({ info, started_at, seen_at, draining }) => {
        const instants = { startedAt: started_at, seenAt: seen_at }
        return { ...(JSON.parse(info) as WorkerInfo), ...instants, draining: draining === 1 }
      })
    },
  }
}
