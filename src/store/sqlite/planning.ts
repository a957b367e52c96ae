/** The cursors in SQLite, and the transactions in which they move; who is due is `due.ts`, and how plans are written `record.ts`. */
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { PlanningStore } from '../contract/planning.ts'
import type { Connection } from './connection.ts'
import { dueOn } from './due.ts'
import { journal } from './journal.ts'
import { recordAll } from './record.ts'
import { playIn } from './steps.ts'
import type { Wake } from './wake.ts'

const PARK = `update everytick_cursors set next_at = null where schedule_id = ? and next_at = ? and revision = ?`
const QUARANTINE = `update everytick_schedules set quarantine = ?, updated_at = ? where id = ?`

export function planningStore(connection: Connection, clock: Clock, wake: Wake): PlanningStore {
  return {
    // There is one writer, in this very thread.
    recordsAtOnce: 1,
    due: dueOn(connection, clock),
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
