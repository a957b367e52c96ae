/** The cursors in SQLite: who is due, and the one transaction in which plans become runs; which occurrences is `plan/plan.ts`. */
import { toJsonText } from '../../json.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Clock } from '../../time/clock.ts'
import type { PlanningStore } from '../contract/planning.ts'
import type { Connection } from './connection.ts'
import { journal } from './journal.ts'
import { INSERT_NON_RUN, nonRunValues } from './non-runs.ts'
import { DUE_SCHEDULE, dueOf, type ScheduleRow } from './rows.ts'
import type { Wake } from './wake.ts'

export const DUE = `
  select ${DUE_SCHEDULE}
  from everytick_cursors c join everytick_schedules s on s.id = c.schedule_id
  where c.next_at <= ? order by c.next_at limit ?`
export const NEXT_CURSOR = `select min(next_at) as next_at from everytick_cursors where next_at > ?`
const MOVE = `
  update everytick_cursors set next_at = ?, watermark_at = max(watermark_at, ?)
  where schedule_id = ? and next_at = ? and revision = ?`
// The schedule lends the run everything but its instants, so that a payload never leaves the database. An occurrence
// above the watermark can stand in history: one that was planned ahead and cancelled before an edit moved the watermark back.
const INSERT_RUN = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, payload, policy)
  select ?, s.workspace, s.job, s.queue, 'pending', ?, s.priority, s.id, s.key, s.revision, ?, ?, ?, ?, s.payload, s.policy
  from everytick_cursors c join everytick_schedules s on s.id = c.schedule_id
  where c.schedule_id = ? and c.next_at = ? and c.revision = ? and c.watermark_at < ?
    and not exists (select 1 from everytick_history where id = ?)
  on conflict do nothing
  returning queue`
const LIFT_PAUSE = `update everytick_schedules set pause = null, updated_at = ? where id = ?`
const PARK = `update everytick_cursors set next_at = null where schedule_id = ? and next_at = ? and revision = ?`
const QUARANTINE = `update everytick_schedules set quarantine = ?, updated_at = ? where id = ?`

export function planningStore(connection: Connection, clock: Clock, wake: Wake): PlanningStore {
  function record(plan: Plan, now: number, queues: Set<string>): 'recorded' | 'stale' {
    const cursor = [plan.scheduleId, plan.expectedNextAt, plan.revision]
    // Runs first, since moving the cursor ends what they are compared with; a stale plan inserts nothing either way.
    for (const { id, trigger, scheduledAt, slotStartAt, dueAt } of plan.runs) {
      const values = [id, trigger, scheduledAt, slotStartAt, dueAt, now, ...cursor, scheduledAt, id]
      for (const { queue } of connection.all<{ queue: string }>(INSERT_RUN, ...values)) queues.add(queue)
    }
    if (connection.run(MOVE, plan.nextAt, plan.watermarkAt, ...cursor) === 0) return 'stale'
    if (plan.resumes) connection.run(LIFT_PAUSE, now, plan.scheduleId)
    for (const nonRun of plan.nonRuns) connection.run(INSERT_NON_RUN, ...nonRunValues(plan.scheduleId, nonRun, now))
    return 'recorded'
  }

  return {
    due: ({ lookaheadMs, limit }) =>
      connection.read(() => {
        const now = clock.now()
        const rows = connection.all<ScheduleRow>(DUE, now + lookaheadMs, limit)
        const [next] =
          rows.length < limit ? connection.all<{ next_at: number | null }>(NEXT_CURSOR, now + lookaheadMs) : []
        return { now, schedules: rows.map(dueOf), nextAt: next?.next_at ?? null }
      }),
    async record(plans) {
      if (plans.length === 0) return []
      const queues = new Set<string>()
      const answers = await connection.write(() => {
        const now = clock.now()
        return plans.map((plan) => record(plan, now, queues))
      }, plans.length)
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
