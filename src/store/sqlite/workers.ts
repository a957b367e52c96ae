/** The list of live processes in SQLite, for people; nothing is granted by it. */
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { WorkerInfo, WorkerStore } from '../contract/workers.ts'
import type { Connection } from './connection.ts'
import { textOf } from './rows.ts'

const BEAT = `
  insert into everytick_workers (id, info, started_at, seen_at) values (?, ?, ?, ?)
  on conflict (id) do update set info = excluded.info, seen_at = excluded.seen_at`
const LEAVE = `delete from everytick_workers where id = ?`
const LIST = `select info, started_at, seen_at from everytick_workers order by started_at, id`

interface WorkerRowText {
  readonly info: string
  readonly started_at: number
  readonly seen_at: number
}

export function workerStore(connection: Connection, clock: Clock): WorkerStore {
  return {
    async beat(worker) {
      const info = toJsonText(worker, { what: 'worker' })
      const id = textOf(worker.id, 'id')
      await connection.write(() => {
        const now = clock.now()
        connection.run(BEAT, id, info, now, now)
      })
    },
    leave: (id) =>
      connection.write(() => {
        connection.run(LEAVE, id)
      }),
    async list() {
      const rows = await connection.read(() => connection.all<WorkerRowText>(LIST))
      return rows.map(({ info, started_at, seen_at }) => {
        return { ...(JSON.parse(info) as WorkerInfo), startedAt: started_at, seenAt: seen_at }
      })
    },
  }
}
