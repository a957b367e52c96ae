/** The shortest way to insert runs: all of one kind, which then travels and is read once; which runs may take it is decided here, and everything else by `enqueue.ts`. */
import { toJsonText } from '../../json.ts'
import type { NewRun } from '../contract/runs.ts'
import { uuids } from './bytes.ts'
import { spanOf } from './rows.ts'
import { isShared } from './shared-queues.ts'
import { prepared, type Statement, texts, type Value } from './statement.ts'
import type { Word } from './wake.ts'

export interface UniformBatch {
  readonly statement: Statement
  readonly values: Value[]
}

/**
 * Null for runs that differ in more than their ids and payloads, or have a key, a concurrency group, an occurrence or an instant. The
 * statement says `word` to others when it commits.
 */
export function createUniform(schema: string): (runs: readonly NewRun[], word?: Word) => UniformBatch | null {
  const [same, own] = [uniformStatement(schema, 'same'), uniformStatement(schema, 'own')]
  return (runs, word) => {
    const [first] = runs
    if (!first || !runs.every((run) => isUniform(run, first))) return null
    const { workspace, job, queue, trigger, priority, policy, schedule, due, payload } = first
    const isSame = runs.every((run) => run.payload === payload)
    const text = (run: NewRun): string => toJsonText(run.payload, { what: 'payload' })
    const values = [
      ...[uuids(runs.map(({ id }) => id)), isSame ? text(first) : texts(runs.map(text))],
      ...[workspace, job, queue, trigger, priority, toJsonText(policy, { what: 'policy' })],
      ...[schedule?.id ?? null, schedule?.key ?? null, schedule?.revision ?? null, 'at' in due ? 0 : due.delayMs],
      ...[word?.channel ?? null, word?.payload ?? null],
    ]
    return { statement: isSame ? same : own, values }
  }
}

const isUniform = (run: NewRun, first: NewRun): boolean =>
  run.idempotencyKey === null &&
  run.group === null &&
  run.slot === null &&
  !('at' in run.due) &&
  run.due.delayMs === (first.due as { readonly delayMs: number }).delayMs &&
  run.job === first.job &&
  run.queue === first.queue &&
  run.workspace === first.workspace &&
  run.trigger === first.trigger &&
  run.priority === first.priority &&
  run.policy === first.policy &&
  run.schedule === first.schedule

/** Fails when one of the ids is taken. */
const uniformStatement = (schema: string, payload: 'same' | 'own'): Statement => {
  const [list, read, shared] =
    payload === 'same'
      ? ['unnest($1::uuid[]) as run (id)', 'kind.payload', '$2::text::jsonb']
      : ['unnest($1::uuid[], $2::text::text[]) as run (id, payload)', 'run.payload::jsonb', 'null::jsonb']
  return prepared(`
with kind as materialized (
  select now, now + ${spanOf('$12::float8')} as due_at, ${shared} as payload, $3::text as workspace, $4::text as job,
    $5::text as queue, $6::text as trigger, $7::smallint as priority, $8::text::json as policy, $9::uuid as schedule_id,
    $10::text as schedule_key, $11::int as schedule_revision,
    ${isShared(schema, { workspace: '$3::text', queue: '$5::text' })} as in_fair_share,
    case when $13::text is not null then pg_notify($13::text, $14::text) end as said
  from (select ${schema}.now_at() as now) clock
)
insert into ${schema}.runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key, schedule_revision,
  due_at, created_at, payload, policy, attempt, fence, cancel_requested, in_fair_share)
select run.id, kind.workspace, kind.job, kind.queue, 'pending', kind.trigger, kind.priority, kind.schedule_id,
  kind.schedule_key, kind.schedule_revision, kind.due_at, kind.now, ${read}, kind.policy, 0, 0, false, kind.in_fair_share
from ${list} cross join kind`)
}
