/** The cursors in SQLite: who is due, and the transactions in which that changes; how plans are written is `record.ts`. */
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { PlanningStore } from '../contract/planning.ts'
import type { Connection } from './connection.ts'
import { journal } from './journal.ts'
import { recordAll } from './record.ts'
import { DUE_SCHEDULE, duesOf } from './rows.ts'
import { playIn } from './steps.ts'
import type { Wake } from './wake.ts'

export const DUE = `
  select json_group_array(${DUE_SCHEDULE}) as schedules
  from (select * from everytick_cursors where next_at <= ? order by next_at limit ?) c
  cross join everytick_schedules s on s.id = c.schedule_id`
export const NEXT_CURSOR = `select min(next_at) as next_at from everytick_cursors where next_at > ?`
const PARK = `update everytick_cursors set next_at = null where schedule_id = ? and next_at = ? and revision = ?`
const QUARANTINE = `update everytick_schedules set quarantine = ?, updated_at = ? where id = ?`

const NOBODY: ReadonlySet<string> = new Set()

export function planningStore(connection: Connection, clock: Clock, wake: Wake): PlanningStore {
  return {
    // There is one writer, in this very thread.
    recordsAtOnce: 1,
    due: ({ lookaheadMs, limit, except = NOBODY }) =>
      connection.read(() => {
        const now = clock.now()
        const [near] = connection.all<{ schedules: string }>(DUE, now + lookaheadMs, limit + except.size)
        const all = duesOf(near?.schedules ?? '[]')
        const schedules = all.filter(({ id }) => !except.has(id)).slice(0, limit)
        const [next] =
          schedules.length < limit ? connection.all<{ next_at: number | null }>(NEXT_CURSOR, now + lookaheadMs) : []
        return { now, schedules, nextAt: next?.next_at ?? null }
      }),
    async record(plans, tx) {
      if (plans.length === 0) return []
      const queues = new Set<string>()
      // Others notice the caller's commit by themselves.
      if (tx) return playIn(tx, recordAll(plans, clock.now(), queues))
      const answers = await connection.writeSteps(() => recordAll(plans, clock.now(), queues), plans.length)
      if (queues.size > 0) wake.hint({ kind: 'runs', queues: [...queues] })
      return answers
    },
    quarantine: ({ id, revision, nextAt }, { code, message }) =>
      connection.write(() => {
        const at = clock.now()
        if (connection.run(PARK, id, nextAt, revision) === 0) return
        connection.run(QUARANTINE, toJsonText({ code, message, at }, { what: 'quarantine' }), at, id)
        journal(connection, { at, kind: 'quarantined', runId: null, scheduleId: id, data: { code, message } })
      }),
  }
}
