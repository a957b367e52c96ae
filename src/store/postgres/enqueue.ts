/** Inserts runs made by hand, and keeps the promise of idempotency keys; what operators do to runs is `runs.ts`. */
import { toJsonText } from '../../json.ts'
import type { Enqueued, NewRun } from '../contract/runs.ts'
import { kindRows, kindsOf, kindValues, rememberedTexts } from './kinds.ts'
import { instantAt, spanOf } from './rows.ts'
import { type Ask, listOf, plain, prepared, type Statement, texts, type Value } from './statement.ts'

export type Enqueue = (runs: readonly NewRun[], ask: Ask) => Promise<Enqueued[]>

export function createEnqueue(schema: string): Enqueue {
  const [insert, insertKeyed, recall] = [insertStatement(schema), keyedStatement(schema), recallStatement(schema)]

  /** Inserts, and answers those whose key stands for another run already. */
  const insertAll = async (runs: readonly NewRun[], ask: Ask): Promise<NewRun[]> => {
    const anyKey = runs.some(({ idempotencyKey }) => idempotencyKey !== null)
    const taken = await ask<{ id: string }>(anyKey ? insertKeyed : insert, valuesOf(runs))
    const ids = new Set(taken.map(({ id }) => id))
    return ids.size === 0 ? [] : runs.filter(({ id }) => ids.has(id))
  }

  return async (runs, ask) => {
    const candidates = onePerKey(runs)
    const standsFor = new Map(candidates.map((run) => [nameOf(run), run.id]))
    for (let open = candidates; open.length > 0; ) {
      const taken = await insertAll(open, ask)
      if (taken.length === 0) break
      // In a statement of its own: the key may have been taken by a transaction that the first one could not see yet.
      const known = await ask<{ n: number; run_id: string }>(recall, [
        texts(taken.map(({ workspace }) => workspace)),
        texts(taken.map(({ idempotencyKey }) => idempotencyKey)),
      ])
      for (const { n, run_id } of known) standsFor.set(nameOf(taken[n - 1]!), run_id)
      // Whatever was forgotten between the two statements is free after all.
      open = taken.filter((run) => standsFor.get(nameOf(run)) === run.id)
    }
    return runs.map((run) => {
      const id = standsFor.get(nameOf(run))!
      return { id, created: id === run.id }
    })
  }
}

/** A run without a key stands for itself. */
const nameOf = ({ id, workspace, idempotencyKey }: NewRun): string =>
  idempotencyKey === null ? id : JSON.stringify([workspace, idempotencyKey])

/** The first of each key. */
function onePerKey(runs: readonly NewRun[]): NewRun[] {
  if (runs.every(({ idempotencyKey }) => idempotencyKey === null)) return [...runs]
  const first = new Map<string, NewRun>()
  for (const run of runs) if (!first.has(nameOf(run))) first.set(nameOf(run), run)
  return [...first.values()]
}

function valuesOf(runs: readonly NewRun[]): Value[] {
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
    texts(runs.map(({ idempotencyKey }) => idempotencyKey)),
    ...kindValues(kinds),
  ]
}

const RUN = { id: 'uuid', kind: 'int', due_ms: 'float8', payload: 'jsonb', idempotency_key: 'text' }
const KIND = {
  ...{ workspace: 'text', job: 'text', queue: 'text', trigger: 'text', priority: 'smallint', policy: 'jsonb' },
  ...{ schedule_id: 'uuid', schedule_key: 'text', schedule_revision: 'int', delay_ms: 'float8' },
}
const GIVEN = `select * from (${listOf(RUN)}) run join (${kindRows(KIND, 6)}) kind using (kind)`

const insertInto = (schema: string, given: string): string => `
  insert into ${schema}.runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, due_at, created_at, payload, policy, attempt, fence, cancel_requested, idempotency_key)
  select g.id, g.workspace, g.job, g.queue, 'pending', g.trigger, g.priority, g.schedule_id, g.schedule_key,
    g.schedule_revision, coalesce(${instantAt('g.due_ms')}, clock.now + ${spanOf('g.delay_ms')}), clock.now,
    g.payload, g.policy, 0, 0, false, g.idempotency_key
  from ${given}`

const insertStatement = (schema: string): Statement =>
  prepared(
    `with clock as materialized (select ${schema}.now_at() as now)${insertInto(schema, `(${GIVEN}) g cross join clock`)}`,
  )

/** What a key stands for by now: nothing, and then this run, or another. */
const FREE = 'g.idempotency_key is null or g.id in (select run_id from remembered)'

/** Keys in order, so that two calls with the same ones cannot wait for each other in a circle. */
const keyedStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (${GIVEN}),
remembered as (
  insert into ${schema}.idempotency (workspace, key, run_id, created_at)
  select g.workspace, g.idempotency_key, g.id, clock.now
  from given g cross join clock where g.idempotency_key is not null
  order by g.workspace, g.idempotency_key
  on conflict (workspace, key) do nothing
  returning run_id
),
inserted as (${insertInto(schema, `given g cross join clock where ${FREE}`)})
select id from given where idempotency_key is not null and id not in (select run_id from remembered)`)

const recallStatement = (schema: string): Statement =>
  prepared(`
select k.n, i.run_id from unnest($1::text::text[], $2::text::text[]) with ordinality as k (workspace, key, n)
cross join lateral (
  select run_id from ${schema}.idempotency where workspace = k.workspace and key = k.key limit 1
) i`)
