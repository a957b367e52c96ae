/** The SQL by which any plans are written, and the values that go with it; the shorter way for most of them is `record-simple.ts`. */
import type { Plan } from '../../plan/plan.ts'
import { NON_RUN, NON_RUN_FIELDS, nonRunValues, passedBy } from './non-runs.ts'
import { pauseIn, revise } from './revise.ts'
import { instantAt, mayOpen } from './rows.ts'
import { isShared } from './shared-queues.ts'
import { MANY, plain, prepared, rowsOf, type Statement, texts, type Value } from './statement.ts'

/** How long a plan waits for a cursor, or for a concurrency group, that somebody else is changing. */
export const WAIT_LIMIT_MS = 200

/** A plan that was not written, and whether only because somebody holds its cursor; or a queue in which there are new runs. */
export interface RecordRow {
  stale: number | null
  leased: boolean | null
  queue: string | null
}

const PLAN = {
  ...{ n: 'int', id: 'uuid', revision: 'int', expected: 'float8', next: 'float8', watermark: 'float8' },
  ...{ resumes: 'boolean', concurrency_group: 'text', stood: 'float8' },
}
const RUN = {
  ...{ n: 'int', id: 'uuid', scheduled: 'float8', slot_start: 'float8', due: 'float8' },
  ...{ trigger: 'text', overlap: 'text' },
}
const FIRST_RUN = 1 + Object.keys(PLAN).length
const FIRST_NON_RUN = FIRST_RUN + Object.keys(RUN).length
const OPENING = FIRST_NON_RUN + 1 + Object.keys(NON_RUN).length

/**
 * Whether the cursor of plan `p`, and the watermark where it names one, are where the plan expects them. The instant fits no index: many cursors may share it, and
 * only one of them is the schedule's.
 */
const STANDS = `schedule_id = p.id and revision = p.revision and (next_at is not distinct from p.expected)
      and (p.stood_at is null or watermark_at = p.stood_at)`

const FRESH = { group: 'f.concurrency_group', place: 'f.scheduled_at', due: 'f.due_at' }

/**
 * Runs from `of`, a query for rows of `fresh`; everything else that a run is made of comes from its schedule. A run that is
 * there already, or would be the second open one of its group, is passed over.
 */
const insertRuns = (schema: string, { of, readiness }: { of: string; readiness: string }): string => `
  insert into ${schema}.runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, payload, policy, attempt, fence, cancel_requested,
    concurrency_group, overlap, readiness, in_fair_share)
  select f.id, s.workspace, s.job, s.queue, 'pending', f.trigger, s.priority, s.id, s.key, s.revision,
    f.scheduled_at, f.slot_start_at, f.due_at, clock.now, s.payload, s.policy, 0, 0, false,
    f.concurrency_group, case when f.concurrency_group is null then 'allow' else f.overlap end, ${readiness},
    ${isShared(schema, { workspace: 's.workspace', queue: 's.queue' })}
  from clock cross join (${of}) f join done m on m.n = f.n
  cross join lateral (
    select id, workspace, key, revision, job, queue, priority, payload, policy from ${schema}.schedules
    where id = m.id limit 1
  ) s
  on conflict do nothing
  returning id, queue`

/**
 * One statement: locks each cursor that still stands where its plan expects it, moves it, and from those alone inserts
 * runs and non-runs. What a run is made of comes from the schedule, so that no payload travels. With `skip locked`, a
 * cursor that another holds is passed over and its plan told as held, so that nobody makes the rest of the batch wait.
 * Only an occurrence that was planned before, and then retracted by an edit, can already have become a run that ended: an
 * operator may have cancelled it ahead of its time. Such ones, up to `planned_at`, are looked for; all others are spared that.
 * Where a plan ends a pause, its schedule is locked before its cursor, as everybody does who locks both.
 * The first run of a concurrency group is inserted open where the group is empty. Another may open one that this statement cannot see
 * yet: it waits for that one's commit, though not for long, and is then inserted a second time as a closed one.
 */
export const recordStatement = (schema: string, locking: 'skip locked' | ''): Statement =>
  prepared(`
with clock as materialized (
  select ${schema}.now_at() as now, set_config('lock_timeout',
    case when $${OPENING}::boolean then '${WAIT_LIMIT_MS}ms' else current_setting('lock_timeout') end, true)
),
plan as materialized (
  select n, id, revision, ${instantAt('expected')} as expected, ${instantAt('next')} as next_at,
    ${instantAt('watermark')} as watermark_at, resumes, concurrency_group, ${instantAt('stood')} as stood_at
  from (${rowsOf(PLAN)}) p
),
free as materialized (
  select * from plan p where not resumes or (
    select true from ${schema}.schedules where id = p.id limit 1 for update ${locking}
  )
),
held as materialized (
  select p.n, p.id, p.next_at, p.watermark_at, p.resumes, p.concurrency_group, c.place, c.watermark_at as floor_at, c.planned_at
  from free p cross join lateral (
    select ctid as place, watermark_at, planned_at from ${schema}.cursors
    where ${STANDS}
    limit 1 for update ${locking}
  ) c
),
run as materialized (
  select r.n, r.id, ${instantAt('r.scheduled')} as scheduled_at, ${instantAt('r.slot_start')} as slot_start_at,
    ${instantAt('r.due')} as due_at, r.trigger, r.overlap
  from (${rowsOf(RUN, FIRST_RUN)}) r
),
fresh as materialized (
  select r.*, h.concurrency_group, row_number() over (partition by h.concurrency_group order by r.scheduled_at, r.n) as place
  from run r join held h on h.n = r.n
  where r.scheduled_at > h.floor_at and (
    r.scheduled_at > h.planned_at or (
      (select 1 from ${schema}.runs where id = r.id limit 1) is null
      and (select 1 from ${schema}.history where id = r.id limit 1) is null
      and (select 1 from ${schema}.deleted_runs where id = r.id limit 1) is null
    )
  )
),
step as materialized (
  select h.*, coalesce(f.number, 0) as number
  from held h left join (select n, count(*)::int as number from fresh group by n) f on f.n = h.n
),
moved as (
  update ${schema}.cursors c
  set next_at = h.next_at, watermark_at = greatest(c.watermark_at, h.watermark_at),
    planned_at = greatest(c.planned_at, h.watermark_at), run_count = c.run_count + h.number
  from step h
  where c.ctid = any(array(select place from held)) and c.ctid = h.place
  returning h.n, h.id, h.resumes, c.watermark_at
),
done as materialized (select moved.* from moved ${MANY}),
inserted as (${insertRuns(schema, {
    of: 'select * from fresh',
    readiness: `case when f.concurrency_group is null or ($${OPENING}::boolean and f.place = 1 and ${mayOpen(schema, FRESH)})
      then 'ready' else 'undecided' end`,
  })}
),
behind as (${insertRuns(schema, {
    of: 'select * from fresh where concurrency_group is not null and place = 1 and id not in (select id from inserted)',
    readiness: `'undecided'`,
  })}
),
non_run as materialized (${rowsOf({ n: 'int', ...NON_RUN }, FIRST_NON_RUN)}),${passedBy(
    schema,
    `select m.id as schedule_id, ${NON_RUN_FIELDS} from non_run x join done m on m.n = x.n`,
  )},
paused as materialized (
  select s.id, s.workspace, s.key, s.revision, s.pause from ${schema}.schedules s
  where s.id = any(array(select id from moved where resumes))
),
lifted as (
  update ${schema}.schedules set pause = null, updated_at = (select now from clock), updated_by = 'everytick'
  where id = any(array(select id from paused))
),
revised as (${revise(
    schema,
    `select p.id, p.workspace, p.key, 'resumed', p.revision, clock.now, 'everytick', m.watermark_at,
    ${pauseIn('p.pause')}, ${pauseIn('null::jsonb')}
  from paused p join moved m on m.id = p.id cross join clock`,
  )})
select p.n as stale, (
    select true from ${schema}.cursors where ${STANDS} limit 1
  ) as held, null as queue
from plan p where not exists (select 1 from done m where m.n = p.n)
union all
select null, null, queue from (select queue from inserted union all select queue from behind) new group by queue`)

export function recordValues(plans: readonly Plan[], { opening = true }: { opening?: boolean } = {}): Value[] {
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
    texts(plans.map(({ group }) => group)),
    plain(plans.map(({ expectedWatermarkAt }) => expectedWatermarkAt ?? null)),
    plain(runs.map(({ n }) => n)),
    plain(runs.map(({ id }) => id)),
    plain(runs.map(({ scheduledAt }) => scheduledAt)),
    plain(runs.map(({ slotStartAt }) => slotStartAt)),
    plain(runs.map(({ dueAt }) => dueAt)),
    texts(runs.map(({ trigger }) => trigger)),
    texts(runs.map(({ overlap }) => overlap)),
    plain(nonRuns.map(({ n }) => n)),
    ...nonRunValues(nonRuns),
    opening,
  ]
}
