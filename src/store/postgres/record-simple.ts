/** Writes plans of the usual kind in the shortest way; what is not of that kind, or did not go as usual, is left to `record.ts`. */
import type { Plan } from '../../plan/plan.ts'
import { instants, integers, places, uuids, words } from './bytes.ts'
import type { RowAddresses } from './row-addresses.ts'
import { mayOpen } from './rows.ts'
import { isShared } from './shared-queues.ts'
import { prepared, type Statement, type Value } from './statement.ts'

/**
 * One run, at the very instant where the cursor stands, and nothing else to write; in a concurrency group, if any, that no other schedule
 * shares. Nearly all plans of a planner that keeps up are of this kind.
 */
export function isSimple(plan: Plan): boolean {
  const { scheduleId, group, runs, nonRuns } = plan
  const run = runs[0]
  if (run === undefined || runs.length > 1 || nonRuns.length > 0 || plan.resumes) return false
  const { scheduledAt: at, overlap } = run
  if (run.trigger !== 'schedule' || group !== (overlap === 'allow' ? null : scheduleId)) return false
  return plan.expectedNextAt === at && plan.watermarkAt === at
}

const USUAL = {
  ...{ id: 'uuid', revision: 'int', stood_at: 'timestamptz', at: 'timestamptz', next_at: 'timestamptz' },
  ...{ run: 'uuid', slot_start_at: 'timestamptz', due_at: 'timestamptz', overlap: 'text', seen: 'tid', source: 'tid' },
}
const COUNT = 1 + Object.keys(USUAL).length
/** Which the server's planner cannot look into, for the reason that `unseen` says. */
const LISTS = Object.values(USUAL)
  .map((type, i) => `(select $${i + 1}::${type}[])`)
  .join(', ')

export function simpleValues(plans: readonly Plan[], addresses: Pick<RowAddresses, 'take'>): Value[] {
  const runs = plans.map((plan) => plan.runs[0]!)
  return [
    uuids(plans.map(({ scheduleId }) => scheduleId)),
    integers(plans.map(({ revision }) => revision)),
    instants(plans.map(({ expectedWatermarkAt }) => expectedWatermarkAt ?? null)),
    instants(runs.map(({ scheduledAt }) => scheduledAt)),
    instants(plans.map(({ nextAt }) => nextAt)),
    uuids(runs.map(({ id }) => id)),
    instants(runs.map(({ slotStartAt }) => slotStartAt)),
    instants(runs.map(({ dueAt }) => dueAt)),
    words(runs.map(({ overlap }) => overlap)),
    ...places(plans.map(({ scheduleId }) => addresses.take(scheduleId))),
    plans.length,
  ]
}

/** A queue in which there are new runs, and their number; or, when those are fewer than the plans, a schedule whose plan was written. */
export interface SimpleRow {
  queue: string | null
  number: number
  id: string | null
}

const NEW = { group: 'm.concurrency_group', place: 'm.at', due: 'm.due_at' }

/** What a run is made of besides its instants. */
const SOURCE = 'id, workspace, key, revision, job, queue, priority, payload, policy'

/**
 * Each plan is one row from beginning to end, so that nothing is joined but by a place, and the wide rows of schedules pass
 * through no table on their way. A cursor that is no longer at its place is passed over, and so is one that ever stood at or
 * beyond the occurrence: what an edit took back may be on record already. So is one that somebody has locked (`xmax`), unless it
 * was whoever wrote it, who is done. That also refuses what was rewritten while this waited for it, since waiting locks it.
 * A schedule is looked for by its id where it was rewritten. Fails when a concurrency group or an id is taken, or a cursor for long, and
 * then has written nothing. The limit takes nothing away, but makes the server expect few plans, and so look up each cursor,
 * rather than all for each plan.
 */
export const simpleStatement = (schema: string, waitLimitMs: number): Statement =>
  prepared(`
with clock as materialized (
  select ${schema}.now_at() as now, set_config('lock_timeout', '${waitLimitMs}ms', true)
),
moved as (
  update ${schema}.cursors c
  set next_at = p.next_at, watermark_at = p.at, planned_at = p.at, run_count = c.run_count + 1
  from (
    select list.*, case when overlap <> 'allow' then id::text end as concurrency_group,
      coalesce(seen, (select ctid from ${schema}.cursors where schedule_id = id limit 1)) as place
    from clock cross join unnest(${LISTS}) as list (${Object.keys(USUAL).join(', ')})
    limit (select $${COUNT}::int)
  ) p
  where c.ctid = p.place and (c.xmax = '0'::xid or c.xmax = c.xmin) and c.schedule_id = p.id and c.revision = p.revision
    and (c.next_at is not distinct from p.at) and (p.stood_at is null or c.watermark_at = p.stood_at)
    and c.watermark_at < p.at and c.planned_at < p.at
  returning p.id, p.source, p.run, p.at, p.slot_start_at, p.due_at, p.concurrency_group, p.overlap
),
inserted as (
  insert into ${schema}.runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, payload, policy, attempt, fence, cancel_requested,
    concurrency_group, overlap, readiness, in_fair_share)
  select m.run, s.workspace, s.job, s.queue, 'pending', 'schedule', s.priority, s.id, s.key, s.revision,
    m.at, m.slot_start_at, m.due_at, (select now from clock), s.payload, s.policy, 0, 0, false,
    m.concurrency_group, m.overlap, case when m.concurrency_group is null or ${mayOpen(schema, NEW)} then 'ready' else 'undecided' end,
    ${isShared(schema, { workspace: 's.workspace', queue: 's.queue' })}
  from moved m cross join lateral (
    select ${SOURCE} from ${schema}.schedules where ctid = m.source and id = m.id
    union all
    select ${SOURCE} from ${schema}.schedules where id = m.id
    limit 1
  ) s
  returning queue
)
select queue, count(*)::int as number, null as id from inserted group by queue
union all
select null, 0, id from moved where (select count(*) from inserted) < $${COUNT}::int`)
