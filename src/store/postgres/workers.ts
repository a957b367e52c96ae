/** The list of live processes in Postgres, for people; nothing is claimed by it. */
import { toJsonText } from '../../json.ts'
import type { WorkerInfo, WorkerStore } from '../contract/workers.ts'
import type { Connection } from './connection.ts'
import { msOf } from './rows.ts'
import { prepared } from './statement.ts'

interface Row {
  info: WorkerInfo
  started_at: number
  seen_at: number
  draining: boolean
}

export function createWorkers(connection: Connection, schema: string): WorkerStore {
  const reportPresence = prepared(`
with clock as materialized (select ${schema}.now_at() as now)
insert into ${schema}.workers as w (id, info, started_at, seen_at) select $1::text, $2::text::jsonb, now, now from clock
on conflict (id) do update set info = excluded.info, seen_at = excluded.seen_at
returning w.draining`)
  const drain = prepared(`update ${schema}.workers set draining = true where id = $1::text returning id`)
  const leave = prepared(`delete from ${schema}.workers where id = $1::text`)
  const list = prepared(`
select w.info, ${msOf('w.started_at')} as started_at, ${msOf('w.seen_at')} as seen_at, w.draining
from ${schema}.workers w order by w.started_at, w.id`)
  return {
    async reportPresence(worker) {
      const values = [worker.id, toJsonText(worker, { what: 'worker' })]
      return (await connection.hot.ask<{ draining: boolean }>(reportPresence, values))[0]!
    },
    async drain(id) {
      return (await connection.api.ask(drain, [id])).length > 0
    },
    async leave(id) {
      await connection.hot.ask(leave, [id])
    },
    async list() {
      const rows = await connection.api.ask<Row>(list, [])
      return rows.map(({ info, started_at, seen_at, draining }) => {
        return { ...info, startedAt: started_at, seenAt: seen_at, draining }
      })
    },
  }
}
