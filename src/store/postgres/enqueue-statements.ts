/** The SQL by which runs made by hand are inserted, and the values that go with it; which of it a call needs is `enqueue.ts`. */
import { toJsonText } from '../../json.ts'
import type { NewRun } from '../contract/runs.ts'
import { kindRows, kindsOf, kindValues, rememberedTexts } from './common-columns.ts'
import { instantAt, mayOpen, spanOf } from './rows.ts'
import { isShared } from './shared-queues.ts'
import { listOf, plain, prepared, type Statement, texts, type Value } from './statement.ts'

const RUN = { id: 'uuid', kind: 'int', due_ms: 'float8', payload: 'jsonb' }
const MORE = {
  ...{ idempotency_key: 'text', scheduled_ms: 'float8', slot_start_ms: 'float8' },
  ...{ concurrency_group: 'text', overlap: 'text' },
}
/** What runs of one call mostly share. */
const KIND = {
  ...{ workspace: 'text', job: 'text', queue: 'text', trigger: 'text', priority: 'smallint', policy: 'json' },
  ...{ schedule_id: 'uuid', schedule_key: 'text', schedule_revision: 'int', delay_ms: 'float8' },
}

const givenBy = (own: Readonly<Record<string, string>>): string =>
  `select * from (${listOf(own)}) run join (${kindRows(KIND, 1 + Object.keys(own).length)}) kind using (kind)`

/** For `insertStatement`. */
export const plainValues = (runs: readonly NewRun[]): Value[] => listsOf(runs, [])

/** For all others. */
export const fullValues = (runs: readonly NewRun[]): Value[] =>
  listsOf(runs, [
    texts(runs.map(({ idempotencyKey }) => idempotencyKey)),
    plain(runs.map(({ slot }) => slot?.scheduledAt ?? null)),
    plain(runs.map(({ slot }) => slot?.slotStartAt ?? null)),
    texts(runs.map(({ group }) => group)),
    texts(runs.map(({ group, overlap }) => (group === null ? 'allow' : overlap))),
  ])

function listsOf(runs: readonly NewRun[], more: readonly Value[]): Value[] {
  const policyText = rememberedTexts('policy')
  const { kinds, kindOf } = kindsOf(runs, ({ workspace, job, queue, trigger, priority, policy, schedule, due }) => [
    ...[workspace, job, queue, trigger, priority, policyText(policy)],
    ...[schedule?.id ?? null, schedule?.key ?? null, schedule?.revision ?? null, 'at' in due ? null : due.delayMs],
  ])
  return [
    plain(runs.map(({ id }) => id)),
    plain(kindOf),
    plain(runs.map(({ due }) => ('at' in due ? due.at : null))),
    texts(runs.map(({ payload }) => toJsonText(payload, { what: 'payload' }))),
    ...more,
    ...kindValues(kinds),
  ]
}

const DUE = `coalesce(${instantAt('g.due_ms')}, clock.now + ${spanOf('g.delay_ms')})`
const GIVEN_RUN = { group: 'g.concurrency_group', place: `coalesce(${instantAt('g.scheduled_ms')}, ${DUE})`, due: DUE }
const COLUMNS = `id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key, schedule_revision,
    due_at, created_at, payload, policy, attempt, fence, cancel_requested`
const FIELDS = `g.id, g.workspace, g.job, g.queue, 'pending', g.trigger, g.priority, g.schedule_id, g.schedule_key,
    g.schedule_revision, ${DUE}, clock.now,
    g.payload, g.policy, 0, 0, false`
const FAIR = { workspace: 'g.workspace', queue: 'g.queue' }

/** For such runs of any kind, with neither key nor group nor occurrence; fails when one of the ids is taken. */
export const insertStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now)
insert into ${schema}.runs (${COLUMNS}, in_fair_share)
select ${FIELDS}, ${isShared(schema, FAIR)} from (${givenBy(RUN)}) g cross join clock`)

const GIVEN = givenBy({ ...RUN, ...MORE })

const insertFrom = (schema: string, { of, readiness }: { of: string; readiness: string }): string => `
  insert into ${schema}.runs (${COLUMNS}, in_fair_share, idempotency_key, scheduled_at, slot_start_at, concurrency_group, overlap, readiness)
  select ${FIELDS}, ${isShared(schema, FAIR)}, g.idempotency_key, ${instantAt('g.scheduled_ms')}, ${instantAt('g.slot_start_ms')},
    g.concurrency_group, g.overlap, ${readiness}
  from (${of}) g cross join clock
  on conflict do nothing
  returning id`

/** Keys in order, so that two calls with the same ones cannot wait for each other in a circle. */
const remembered = (schema: string): string => `
remembered as (
  insert into ${schema}.idempotency (workspace, key, run_id, created_at)
  select g.workspace, g.idempotency_key, g.id, clock.now
  from given g cross join clock where g.idempotency_key is not null
  order by g.workspace, g.idempotency_key
  on conflict (workspace, key) do nothing
  returning run_id
)`

/** What a key stands for by now: nothing, and then this run, or another. */
const FREE = '(idempotency_key is null or id in (select run_id from remembered))'

/** For runs without groups. Answers, as the next does, what was not inserted, and whether for its key rather than its id. */
export const keyedStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (${GIVEN}),${remembered(schema)},
inserted as (${insertFrom(schema, { of: `select * from given where ${FREE}`, readiness: `'ready'` })}
)
select id, not ${FREE} as keyed from given where id not in (select id from inserted)`)

/** SQL that holds for a run `g` that makes good an occurrence, and has done so: looked for in every day of history. */
export const endedAlready = (schema: string): string =>
  `(g.scheduled_ms is not null and (
    (select 1 from ${schema}.history where id = g.id limit 1) is not null
    or (select 1 from ${schema}.deleted_runs where id = g.id limit 1) is not null))`

/**
 * The first of a concurrency group is open where the group is empty; what finds it taken by one that could not be seen yet is inserted a
 * second time, waiting. Concurrency groups in order too.
 */
export const groupedStatement = (schema: string, ended = 'false'): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (select g.*, row_number() over () as n from (${GIVEN}) g),${remembered(schema)},
free as materialized (
  select g.*, row_number() over (partition by g.concurrency_group order by g.n) as place from given g
  where ${FREE} and not (${ended})
),
inserted as (${insertFrom(schema, {
    of: 'select * from free order by concurrency_group, n',
    readiness: `case when g.concurrency_group is null or (g.place = 1 and ${mayOpen(schema, GIVEN_RUN)}) then 'ready' else 'blocked' end`,
  })}
),
behind as (${insertFrom(schema, {
    of: 'select * from free where concurrency_group is not null and place = 1 and id not in (select id from inserted)',
    readiness: `'blocked'`,
  })}
)
select id, not ${FREE} as keyed from given
where id not in (select id from inserted) and id not in (select id from behind)`)

/** What keys stand for, each with its place in the list. */
export const recallStatement = (schema: string): Statement =>
  prepared(`
select k.n::int - 1 as n, i.run_id from unnest($1::text::text[], $2::text::text[]) with ordinality as k (workspace, key, n)
cross join lateral (
  select run_id from ${schema}.idempotency where workspace = k.workspace and key = k.key limit 1
) i`)
