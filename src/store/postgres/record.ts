/** Writes plans in batches: cursors, runs and non-runs together; which plans there are is decided by `plan`, which are due by `planning.ts`. */
import type { Plan } from '../../plan/plan.ts'
import type { Connection } from './connection.ts'
import { isBusy } from './failure.ts'
import { instantAt } from './rows.ts'
import { MANY, plain, prepared, rowsOf, type Statement, texts, unprepared, type Value } from './statement.ts'

export interface Recorded {
  readonly answers: ('recorded' | 'stale')[]
  /** In which there are new runs. */
  readonly queues: string[]
}

interface RecordRow {
  stale: number | null
  held: boolean | null
  queue: string | null
}

/** How long a plan waits for a cursor that somebody else is changing. */
const PATIENCE_MS = 200

export function createRecord(connection: Connection, schema: string): (plans: readonly Plan[]) => Promise<Recorded> {
  const [atOnce, patiently] = [recordStatement(schema, 'skip locked'), recordStatement(schema, '')]
  const patience = unprepared(`select set_config('lock_timeout', '${PATIENCE_MS}ms', true)`)

  /** Whoever holds a cursor longer, such as a caller's open transaction, makes its plan stale for now. */
  const waiting = async (plans: readonly Plan[]): Promise<RecordRow[] | null> => {
    try {
      return await connection.hot.transact(async (ask) => {
        await ask(patience, [])
        return ask<RecordRow>(patiently, recordValues(plans))
      })
    } catch (error) {
      if (isBusy(error)) return null
      throw error
    }
  }

  return async (plans) => {
    const answers = plans.map((): 'recorded' | 'stale' => 'recorded')
    const queues = new Set<string>()
    const held: number[] = []
    for (const row of await connection.hot.ask<RecordRow>(atOnce, recordValues(plans))) {
      if (row.queue !== null) queues.add(row.queue)
      if (row.stale === null) continue
      answers[row.stale] = 'stale'
      if (row.held) held.push(row.stale)
    }
    if (held.length === 0) return { answers, queues: [...queues] }
    const rows = await waiting(held.map((n) => plans[n]!))
    if (rows) for (const n of held) answers[n] = 'recorded'
    for (const row of rows ?? []) {
      if (row.queue !== null) queues.add(row.queue)
      if (row.stale !== null) answers[held[row.stale]!] = 'stale'
    }
    return { answers, queues: [...queues] }
  }
}

const PLAN = {
  ...{ n: 'int', id: 'uuid', revision: 'int', expected: 'float8', next: 'float8', watermark: 'float8' },
  resumes: 'boolean',
}
const RUN = { n: 'int', id: 'uuid', scheduled: 'float8', slot_start: 'float8', due: 'float8', trigger: 'text' }
const NON_RUN = { n: 'int', from_ms: 'float8', to_ms: 'float8', count: 'float8', state: 'text', reason: 'text' }

/**
 * Whether the cursor of plan `p` is where the plan expects it. The instant fits no index: many cursors may share it, and
 * only one of them is the schedule's.
 */
const STANDS = `schedule_id = p.id and revision = p.revision and (next_at is not distinct from p.expected)`

/**
 * One statement: locks each cursor that still stands where its plan expects it, moves it, and from those alone inserts
 * runs and non-runs. What a run is made of comes from the schedule, so that no payload travels. With `skip locked`, a
 * cursor that another holds is passed over and its plan told as held, so that nobody makes the rest of the batch wait.
 * Only an occurrence that was planned before, and then retracted by an edit, can already have ended: an operator may have
 * cancelled it ahead of its time. Such ones, up to `planned_at`, are looked for in history; all others are spared that.
 * Where a plan ends a pause, its schedule is locked before its cursor, as everybody does who locks both.
 */
export const recordStatement = (schema: string, locking: 'skip locked' | ''): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
plan as materialized (
  select n, id, revision, ${instantAt('expected')} as expected, ${instantAt('next')} as next_at,
    ${instantAt('watermark')} as watermark_at, resumes
  from (${rowsOf(PLAN)}) p
),
free as materialized (
  select * from plan p where not resumes or (
    select true from ${schema}.schedules where id = p.id limit 1 for update ${locking}
  )
),
held as materialized (
  select p.n, p.id, p.next_at, p.watermark_at, p.resumes, c.place, c.watermark_at as floor_at, c.planned_at
  from free p cross join lateral (
    select ctid as place, watermark_at, planned_at from ${schema}.cursors
    where ${STANDS}
    limit 1 for update ${locking}
  ) c
),
moved as (
  update ${schema}.cursors c
  set next_at = h.next_at, watermark_at = greatest(c.watermark_at, h.watermark_at),
    planned_at = greatest(c.planned_at, h.watermark_at)
  from held h
  where c.ctid = any(array(select place from held)) and c.ctid = h.place
  returning h.n, h.id, h.resumes, h.floor_at, h.planned_at
),
done as materialized (select moved.* from moved ${MANY}),
run as materialized (${rowsOf(RUN, 8)}),
non_run as materialized (${rowsOf(NON_RUN, 14)}),
inserted as (
  insert into ${schema}.runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, payload, policy, attempt, fence, cancel_requested)
  select r.id, s.workspace, s.job, s.queue, 'pending', r.trigger, s.priority, s.id, s.key, s.revision,
    ${instantAt('r.scheduled')}, ${instantAt('r.slot_start')}, ${instantAt('r.due')}, clock.now, s.payload, s.policy, 0, 0, false
  from clock cross join run r join done m on m.n = r.n
  cross join lateral (
    select id, workspace, key, revision, job, queue, priority, payload, policy from ${schema}.schedules
    where id = m.id limit 1
  ) s
  where ${instantAt('r.scheduled')} > m.floor_at and (
    ${instantAt('r.scheduled')} > m.planned_at or (select 1 from ${schema}.history h where h.id = r.id limit 1) is null
  )
  on conflict do nothing
  returning queue
),
missed as (
  insert into ${schema}.non_runs (schedule_id, from_at, to_at, count, state, reason, recorded_at)
  select m.id, ${instantAt('x.from_ms')}, ${instantAt('x.to_ms')}, x.count, x.state, x.reason, clock.now
  from clock cross join non_run x join done m on m.n = x.n
),
lifted as (
  update ${schema}.schedules set pause = null, updated_at = (select now from clock)
  where id = any(array(select id from moved where resumes))
)
select p.n as stale, (
    select true from ${schema}.cursors where ${STANDS} limit 1
  ) as held, null as queue
from plan p where not exists (select 1 from done m where m.n = p.n)
union all
select null, null, queue from inserted group by queue`)

export function recordValues(plans: readonly Plan[]): Value[] {
  const runs = plans.flatMap((plan, n) => plan.runs.map((run) => ({ n, ...run })))
  const nonRuns = plans.flatMap((plan, n) => plan.nonRuns.map((nonRun) => ({ n, ...nonRun })))
  return [
    plain(plans.map((_, n) => n)),
    plain(plans.map(({ scheduleId }) => scheduleId)),
    plain(plans.map(({ revision }) => revision)),
    plain(plans.map(({ expectedNextAt }) => expectedNextAt)),
    plain(plans.map(({ nextAt }) => nextAt)),
    plain(plans.map(({ watermarkAt }) => watermarkAt)),
    plain(plans.map(({ resumes }) => resumes)),
    plain(runs.map(({ n }) => n)),
    plain(runs.map(({ id }) => id)),
    plain(runs.map(({ scheduledAt }) => scheduledAt)),
    plain(runs.map(({ slotStartAt }) => slotStartAt)),
    plain(runs.map(({ dueAt }) => dueAt)),
    texts(runs.map(({ trigger }) => trigger)),
    plain(nonRuns.map(({ n }) => n)),
    plain(nonRuns.map(({ fromAt }) => fromAt)),
    plain(nonRuns.map(({ toAt }) => toAt)),
    plain(nonRuns.map(({ count }) => count)),
    texts(nonRuns.map(({ state }) => state)),
    texts(nonRuns.map(({ reason }) => reason)),
  ]
}
