/** The cursors in SQLite: who is due, and the one transaction in which plans become runs; which occurrences is `plan/plan.ts`. */
import { toJsonText } from '../../json.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Clock } from '../../time/clock.ts'
import type { PlanningStore } from '../contract/planning.ts'
import type { Connection } from './connection.ts'
import { journal } from './journal.ts'
import { isBehind } from './lane-line.ts'
import { recordNonRun } from './non-runs.ts'
import { BY_ITSELF, pauseText, revise } from './revisions.ts'
import { DUE_SCHEDULE, dueOf, type ScheduleRow } from './rows.ts'
import { ask, play, playIn, type Steps } from './steps.ts'
import type { Wake } from './wake.ts'

export const DUE = `
  select ${DUE_SCHEDULE}
  from everytick_cursors c join everytick_schedules s on s.id = c.schedule_id
  where c.next_at <= ? order by c.next_at limit ?`
export const NEXT_CURSOR = `select min(next_at) as next_at from everytick_cursors where next_at > ?`
const MOVE = `
  update everytick_cursors set next_at = ?, watermark_at = max(watermark_at, ?), made = made + ?
  where schedule_id = ? and next_at is ? and revision = ?
  returning watermark_at`
// The schedule lends the run everything but its instants, so that a payload never leaves the database. An occurrence
// above the watermark can stand in history: one that was planned ahead and cancelled before an edit moved the watermark back.
// A second open run in one lane is no repetition but a mistake, and must not pass in silence.
const INSERT_RUN = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, lane, overlap, gate, created_at, payload, policy)
  select ?, s.workspace, s.job, s.queue, 'pending', ?, s.priority, s.id, s.key, s.revision, ?, ?, ?, ?, ?, ?, ?,
    s.payload, s.policy
  from everytick_cursors c join everytick_schedules s on s.id = c.schedule_id
  where c.schedule_id = ? and c.next_at is ? and c.revision = ? and c.watermark_at < ?
    and not exists (select 1 from everytick_history where id = ?)
  on conflict (id) do nothing
  on conflict (schedule_id, scheduled_at) where scheduled_at is not null and trigger <> 'backfill' do nothing
  returning queue`
const WATERMARK = `select watermark_at from everytick_cursors where schedule_id = ?`
const PAUSED = `select workspace, key, revision, pause from everytick_schedules where id = ? and pause is not null`
const LIFT_PAUSE = `update everytick_schedules set pause = null, updated_at = ?, updated_by = ? where id = ?`
const PARK = `update everytick_cursors set next_at = null where schedule_id = ? and next_at = ? and revision = ?`
const QUARANTINE = `update everytick_schedules set quarantine = ?, updated_at = ? where id = ?`

/** One plan, wholly or not at all; collects the queues in which there are new runs. */
function* recordPlan(plan: Plan, now: number, queues: Set<string>): Steps<'recorded' | 'stale'> {
  const { scheduleId, lane } = plan
  const cursor = [scheduleId, plan.expectedNextAt, plan.revision]
  const [seen] = yield* ask<{ watermark_at: number }>(WATERMARK, scheduleId)
  // A cursor that stays where it is does not show that somebody has recorded the same.
  if (plan.expectedWatermarkAt !== undefined && seen?.watermark_at !== plan.expectedWatermarkAt) return 'stale'
  let made = 0
  // Runs first, since moving the cursor ends what they are compared with; a stale plan inserts nothing either way.
  for (const { id, trigger, scheduledAt, slotStartAt, dueAt, overlap } of plan.runs) {
    const newcomer = lane !== null && { lane, place: scheduledAt, dueAt }
    const waits = newcomer && (made > 0 || (yield* isBehind(newcomer, now)))
    const gated = [lane, overlap, waits ? 'closed' : 'open']
    const values = [id, trigger, scheduledAt, slotStartAt, dueAt, ...gated, now, ...cursor, scheduledAt, id]
    const inserted = yield* ask<{ queue: string }>(INSERT_RUN, ...values)
    made += inserted.length
    for (const { queue } of inserted) queues.add(queue)
  }
  const [moved] = yield* ask<{ watermark_at: number }>(MOVE, plan.nextAt, plan.watermarkAt, made, ...cursor)
  if (moved === undefined) return 'stale'
  for (const nonRun of plan.nonRuns) yield* recordNonRun(scheduleId, nonRun, now)
  if (plan.resumes) yield* liftPause(scheduleId, moved.watermark_at, now)
  return 'recorded'
}

function* recordAll(plans: readonly Plan[], now: number, queues: Set<string>): Steps<('recorded' | 'stale')[]> {
  const answers: ('recorded' | 'stale')[] = []
  for (const plan of plans) answers.push(yield* recordPlan(plan, now, queues))
  return answers
}

export function planningStore(connection: Connection, clock: Clock, wake: Wake): PlanningStore {
  return {
    due: ({ lookaheadMs, limit }) =>
      connection.read(() => {
        const now = clock.now()
        const rows = connection.all<ScheduleRow>(DUE, now + lookaheadMs, limit)
        const [next] =
          rows.length < limit ? connection.all<{ next_at: number | null }>(NEXT_CURSOR, now + lookaheadMs) : []
        return { now, schedules: rows.map(dueOf), nextAt: next?.next_at ?? null }
      }),
    async record(plans, tx) {
      if (plans.length === 0) return []
      const queues = new Set<string>()
      // Others notice the caller's commit by themselves.
      if (tx) return playIn(tx, recordAll(plans, clock.now(), queues))
      const write = (): ('recorded' | 'stale')[] => play(connection, recordAll(plans, clock.now(), queues))
      const answers = await connection.write(write, plans.length)
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

interface Paused {
  readonly workspace: string
  readonly key: string
  readonly revision: number
  readonly pause: string
}

/** A pause that came to its end is lifted by nobody but us. */
function* liftPause(scheduleId: string, cutAt: number, now: number): Steps<void> {
  const [found] = yield* ask<Paused>(PAUSED, scheduleId)
  if (found === undefined) return
  const { workspace, key, revision, pause } = found
  yield { text: LIFT_PAUSE, values: [now, BY_ITSELF, scheduleId] }
  yield revise({
    ...{ scheduleId, workspace, key, kind: 'resumed', revision, at: now, by: BY_ITSELF, cutAt },
    ...{ before: pauseText(pause), after: pauseText(null) },
  })
}
