/** Writes plans of the usual kind in the shortest way; what is not of that kind, or did not go as usual, is left to `record.ts`. */
import type { Plan } from '../../plan/plan.ts'
import { instantAt, mayOpen } from './rows.ts'
import { inTurn } from './sharing.ts'
import { plain, prepared, type Statement, unseen, type Value } from './statement.ts'

/**
 * One run, at the very instant where the cursor stands, and nothing else to write; in a lane, if any, that no other schedule
 * shares. Nearly all plans of a planner that keeps up are of this kind.
 */
export function isUsual(plan: Plan): boolean {
  const { scheduleId, lane, runs, nonRuns } = plan
  const run = runs[0]
  if (run === undefined || runs.length > 1 || nonRuns.length > 0 || plan.resumes) return false
  const { scheduledAt: at, overlap } = run
  if (run.trigger !== 'schedule' || lane !== (overlap === 'allow' ? null : scheduleId)) return false
  return plan.expectedNextAt === at && plan.watermarkAt === at
}

const USUAL = {
  ...{ id: 'uuid', revision: 'int', stood: 'float8', at: 'float8', next: 'float8' },
  ...{ run: 'uuid', slot_start: 'float8', due: 'float8', overlap: 'text' },
}
const COUNT = 1 + Object.keys(USUAL).length
const LISTS = Object.values(USUAL)
  .map((type, i) => unseen(i + 1, type))
  .join(', ')

export function usualValues(plans: readonly Plan[]): Value[] {
  const runs = plans.map((plan) => plan.runs[0]!)
  return [
    plain(plans.map(({ scheduleId }) => scheduleId)),
    plain(plans.map(({ revision }) => revision)),
    plain(plans.map(({ expectedWatermarkAt }) => expectedWatermarkAt ?? null)),
    plain(runs.map(({ scheduledAt }) => scheduledAt)),
    plain(plans.map(({ nextAt }) => nextAt)),
    plain(runs.map(({ id }) => id)),
    plain(runs.map(({ slotStartAt }) => slotStartAt)),
    plain(runs.map(({ dueAt }) => dueAt)),
    plain(runs.map(({ overlap }) => overlap)),
    plans.length,
  ]
}

/** A queue in which there are new runs, and their number; or, when those are fewer than the plans, a schedule whose plan was written. */
export interface UsualRow {
  queue: string | null
  number: number
  id: string | null
}

const NEW = { lane: 'm.lane', place: 'm.at', due: 'm.due_at' }

/**
 * Each plan is one row from beginning to end, so that nothing is joined but by a key, and the wide rows of schedules pass
 * through no table on their way. A cursor that another holds is passed over, and so is one that ever stood at or beyond the
 * occurrence: what an edit took back may be on record already. Fails when a lane or an id is taken, and then has written
 * nothing.
 */
export const usualStatement = (schema: string, patienceMs: number): Statement =>
  prepared(`
with clock as materialized (
  select ${schema}.now_at() as now, set_config('lock_timeout', '${patienceMs}ms', true)
),
moved as (
  update ${schema}.cursors c
  set next_at = p.next_at, watermark_at = p.at, planned_at = p.at, made = c.made + 1
  from (
    select p.*, held.place
    from (
      select id, revision, ${instantAt('stood')} as stood_at, ${instantAt('at')} as at, ${instantAt('next')} as next_at,
        run, ${instantAt('slot_start')} as slot_start_at, ${instantAt('due')} as due_at, overlap,
        case when overlap <> 'allow' then id::text end as lane
      from unnest(${LISTS}) as list (${Object.keys(USUAL).join(', ')}) offset 0
    ) p
    cross join lateral (
      select ctid as place from ${schema}.cursors
      where schedule_id = p.id and revision = p.revision and (next_at is not distinct from p.at)
        and (p.stood_at is null or watermark_at = p.stood_at) and watermark_at < p.at and planned_at < p.at
      limit 1 for update skip locked
    ) held offset 0
  ) p
  where c.ctid = p.place
  returning p.id, p.run, p.at, p.slot_start_at, p.due_at, p.lane, p.overlap
),
inserted as (
  insert into ${schema}.runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, payload, policy, attempt, fence, cancel_requested,
    lane, overlap, gate, turn)
  select m.run, s.workspace, s.job, s.queue, 'pending', 'schedule', s.priority, s.id, s.key, s.revision,
    m.at, m.slot_start_at, m.due_at, (select now from clock), s.payload, s.policy, 0, 0, false,
    m.lane, m.overlap, case when m.lane is null or ${mayOpen(schema, NEW)} then 'open' else 'closed' end,
    ${inTurn(schema, { workspace: 's.workspace', queue: 's.queue' })}
  from moved m cross join lateral (
    select id, workspace, key, revision, job, queue, priority, payload, policy from ${schema}.schedules
    where id = m.id limit 1
  ) s
  returning queue
)
select queue, count(*)::int as number, null as id from inserted group by queue
union all
select null, 0, id from moved where (select count(*) from inserted) < $${COUNT}::int`)
