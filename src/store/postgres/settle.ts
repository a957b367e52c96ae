/** Ends claims in Postgres: moves finished runs to history, returns others to the queue, and refuses what carries an old fence. */
import { toJsonText } from '../../json.ts'
import type { ClaimStore, Settlement } from '../contract/claims.ts'
import { createWriteBegun } from './begun.ts'
import type { Parts } from './parts.ts'
import { claimedBy, progressText, RUN_COLUMNS, spanOf } from './rows.ts'
import { finishUniformStatement, uniformValues } from './settle-uniform.ts'
import { isShared } from './shared-queues.ts'
import { type Ask, plain, prepared, rowsOf, type Statement, texts, type Value } from './statement.ts'

type Numbered<Kind> = Settlement & {
  readonly n: number
  readonly verdict: Extract<Settlement['verdict'], { kind: Kind }>
}

export function createSettle({ connection, wake, vacuum, schema }: Parts): ClaimStore['settle'] {
  const [finish, retry] = [finishStatement(schema), retryVerdictStatement(schema)]
  const finishUniform = finishUniformStatement(schema)
  const writeBegun = createWriteBegun(connection, schema)
  const settle: ClaimStore['settle'] = async (settlements) => {
    const uniform = uniformValues(settlements)
    if (uniform) {
      const refused = new Set((await connection.hot.ask<{ id: string }>(finishUniform, uniform)).map(({ id }) => id))
      vacuum.left(settlements.length)
      return settlements.map(({ id }) => (refused.has(id) ? 'refused' : 'accepted'))
    }
    const answers = settlements.map((): 'accepted' | 'refused' => 'accepted')
    const numbered = settlements.map((settlement, n) => ({ ...settlement, n }))
    const finals = inOrder(numbered.filter((one): one is Numbered<'final'> => one.verdict.kind === 'final'))
    const returns = inOrder(numbered.filter((one): one is Numbered<'retry'> => one.verdict.kind === 'retry'))
    const write = async (ask: Ask): Promise<RetryRow[]> => {
      const rows: RetryRow[] = []
      if (finals.length > 0) rows.push(...(await ask<RetryRow>(finish, finalValues(finals))))
      if (returns.length > 0) rows.push(...(await ask<RetryRow>(retry, retryVerdictValues(returns))))
      return rows
    }
    const both = finals.length > 0 && returns.length > 0
    const rows = both ? await connection.hot.transact(write) : await write(connection.hot.ask)
    vacuum.left(settlements.length)
    const queues: string[] = []
    for (const { refused, queue } of rows) {
      if (refused !== null) answers[refused] = 'refused'
      if (queue) queues.push(queue)
    }
    if (queues.length > 0) wake.tell({ kind: 'runs', queues })
    return answers
  }
  return async (settlements, begun = []) => {
    if (begun.length === 0) return settle(settlements)
    const [answers] = await Promise.all([settle(settlements), writeBegun(begun)])
    return answers
  }
}

interface RetryRow {
  refused: number | null
  queue?: string | null
}

/** Batches that share runs then lock them in one order, and cannot wait for each other in a circle. */
const inOrder = <One extends { readonly id: string }>(list: One[]): One[] =>
  list.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))

const claimRefValues = (list: readonly (Settlement & { n: number })[]): Value[] => [
  plain(list.map(({ n }) => n)),
  plain(list.map(({ id }) => id)),
  plain(list.map(({ fence }) => fence)),
  plain(list.map(({ claimId }) => claimId)),
  texts(list.map(({ workerId }) => workerId)),
  plain(list.map(({ onlyExpired }) => onlyExpired === true)),
  texts(list.map(({ progress }) => progressText(progress))),
]

export const finalValues = (list: readonly Numbered<'final'>[]): Value[] => [
  ...claimRefValues(list),
  texts(list.map(({ verdict }) => verdict.state)),
  texts(
    list.map(({ verdict }) =>
      'result' in verdict && verdict.result !== undefined ? toJsonText(verdict.result, { what: 'result' }) : null,
    ),
  ),
  texts(list.map(({ verdict }) => (verdict.state === 'failed' ? toJsonText(verdict.error, { what: 'error' }) : null))),
]

export const retryVerdictValues = (list: readonly Numbered<'retry'>[]): Value[] => [
  ...claimRefValues(list),
  plain(list.map(({ verdict }) => verdict.delayMs)),
  plain(list.map(({ verdict }) => verdict.keepsDue === true)),
  texts(list.map(({ verdict }) => verdict.reason)),
  plain(list.map(({ verdict }) => verdict.counts)),
  texts(list.map(({ verdict }) => (verdict.error ? toJsonText(verdict.error, { what: 'error' }) : null))),
]

const CLAIM_REF = {
  n: 'int',
  id: 'uuid',
  fence: 'bigint',
  claim: 'uuid',
  worker: 'text',
  only_expired: 'boolean',
  progress: 'text',
}

/**
 * The condition of every settlement: fence and claim keep a worker that lost its lease from settling another's attempt, and the
 * reaper comes only when the lease has ended.
 */
const CLAIMED = `${claimedBy('g')} and (not g.only_expired or r.lease_until <= (select now from clock))`

/** What was refused, noted unless it only means that another reaper was quicker. */
const refusals = (schema: string, verdict: string, accepted: string): string => `
refused as materialized (select g.* from given g where not exists (select 1 from ${accepted} a where a.n = g.n)),
noted as (
  insert into ${schema}.journal (at, kind, run_id, schedule_id, data)
  select clock.now, 'refused', g.id,
    coalesce((select schedule_id from ${schema}.runs where id = g.id), (select schedule_id from ${schema}.history where id = g.id limit 1)),
    jsonb_build_object('workerId', g.worker, 'fence', g.fence, 'verdict', ${verdict})
  from refused g cross join clock where not g.only_expired
)`

const FINAL_VERDICT = `jsonb_build_object('kind', 'final', 'state', g.state)
    || case when g.error is not null then jsonb_build_object('error', g.error::jsonb)
      when g.result is not null then jsonb_build_object('result', g.result::jsonb) else '{}' end`

const MOVED = RUN_COLUMNS.filter((column) => !['state', 'lease_until', 'progress', 'error'].includes(column))

export const finishStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (${rowsOf({ ...CLAIM_REF, state: 'text', result: 'text', error: 'text' })}),
gone as (
  delete from ${schema}.runs r using given g
  where ${CLAIMED}
  returning g.n, ${MOVED.map((column) => `r.${column}`).join(', ')}, g.state,
    coalesce(g.progress::jsonb, r.progress) as progress,
    case g.state when 'failed' then g.error::jsonb when 'cancelled' then r.error end as error,
    coalesce(g.result::jsonb, 'null') as result
),
finished as (
  insert into ${schema}.history (${MOVED.join(', ')}, state, progress, error, result, finished_at)
  select ${MOVED.map((column) => `gone.${column}`).join(', ')}, state, progress, error, result, clock.now
  from gone cross join clock
),${refusals(schema, FINAL_VERDICT, 'gone')}
select n as refused from refused`)

const RETRY_VERDICT = `jsonb_build_object('kind', 'retry', 'delayMs', g.delay, 'reason', g.reason, 'counts', g.counts, 'error', g.error::jsonb)`

export const retryVerdictStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
given as materialized (${rowsOf({ ...CLAIM_REF, delay: 'float8', keeps_due: 'boolean', reason: 'text', counts: 'boolean', error: 'text' })}),
back as (
  update ${schema}.runs r
  set state = 'pending', due_at = case when g.keeps_due and not r.cancel_requested then r.due_at
      else (select now from clock) + ${spanOf('case when r.cancel_requested then 0 else g.delay end')} end,
    attempt = r.attempt - case when g.counts then 0 else 1 end, worker_id = null, claim_id = null, lease_until = null, index_excluded = false,
    in_fair_share = r.in_fair_share or ${isShared(schema, { workspace: 'r.workspace', queue: 'r.queue' })},
    progress = coalesce(g.progress::jsonb, r.progress), error = coalesce(g.error::jsonb, r.error)
  from given g
  where ${CLAIMED}
  returning g.n, r.id, r.schedule_id, r.queue, g.reason, jsonb_build_object('workerId', g.worker, 'fence', g.fence,
    'attempt', r.attempt + case when g.counts then 0 else 1 end, 'delayMs', g.delay, 'error', g.error::jsonb) as data
),
answered as (
  insert into ${schema}.journal (at, kind, run_id, schedule_id, data)
  select clock.now, reason, id, schedule_id, data from back cross join clock
),${refusals(schema, RETRY_VERDICT, 'back')}
select n as refused, null as queue from refused
union all
select null, queue from back group by queue`)
