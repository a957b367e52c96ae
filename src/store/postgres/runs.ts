/** Runs made by hand in Postgres, and what operators do to runs; claims and their ends are `claims.ts`. */
import type { CancelAnswer, Enqueued, NewRun, RemoveAnswer, RunStore } from '../contract/runs.ts'
import type { Hint } from '../contract/wake.ts'
import { createEnqueue, createInsertUniform, isPlain } from './enqueue.ts'
import { createEnqueueLong } from './enqueue-long.ts'
import { isAway } from './failure.ts'
import { createGather } from './gather.ts'
import type { Parts } from './parts.ts'
import { removeRunStatement } from './remove-run.ts'
import { isId, mayOpen, NOBODY, RUN_COLUMNS } from './rows.ts'
import { plain, prepared, readOnce, type Statement, within } from './statement.ts'

/** A run that changes hands under a cancel is looked at again; more often than this only one that never rests. */
const SCANS = 10
/** So many runs are worth a write of their own. */
const MANY = 100

export function createRuns({ connection, wake, sharing, schema }: Parts): RunStore {
  const enqueue = createEnqueue(schema)
  const enqueueLong = createEnqueueLong(connection, schema, enqueue)
  const insertUniform = createInsertUniform(schema)
  const gather = createGather({
    async write(runs: readonly NewRun[]) {
      // Two callers with one id must be told apart.
      if (!isOnce(runs)) throw new Error('two callers have one id')
      const hint = hintFor(runs)
      const isWritten = await wake.aboard(hint, (word) => insertUniform(runs, connection.late, word))
      if (isWritten) return runs.map(({ id }) => ({ id, created: true }))
      const answers = await enqueue(runs, connection.late, 'alone')
      wake.tell(hint)
      return answers
    },
    isUnwritten: (error) => !isAway(error),
  })
  const enqueueOwn = async (runs: readonly NewRun[]): Promise<Enqueued[]> => {
    if (runs.length < MANY && runs.every(isPlain) && isOnce(runs)) return connection.begun(() => gather(runs))
    const answers = await enqueueLong(runs)
    wake.tell(hintFor(runs))
    return answers
  }
  const [cancel, retry, remove] = [cancelStatement(schema), retryStatement(schema), removeRunStatement(schema)]
  return {
    async enqueue(runs, tx) {
      if (runs.length === 0) return []
      await sharing.note(runs, tx ? 'transaction' : undefined)
      if (!tx) return enqueueOwn(runs)
      const answers = await enqueue(runs, within(tx))
      await wake.notifyWithin(within(tx), hintFor(runs))
      return answers
    },
    async cancel(id, by) {
      if (!isId(id)) return 'not_found'
      for (let look = 0; look < SCANS; look++) {
        const [row] = await connection.api.ask<CancelRow>(cancel, [id, by])
        const { answer, freed } = row!
        if (answer === 'cancelling') wake.tell({ kind: 'cancels' })
        if (freed !== null) wake.tell({ kind: 'runs', queues: [freed] })
        if (answer !== 'moving') return answer
      }
      return 'not_found'
    },
    async retry(ids, by) {
      const known = [...new Set(ids.filter(isId))]
      if (known.length === 0) return []
      const moved = await connection.api.ask<{ id: string; queue: string }>(retry, [plain(known), by])
      if (moved.length > 0) wake.tell({ kind: 'runs', queues: [...new Set(moved.map(({ queue }) => queue))] })
      const back = new Set(moved.map(({ id }) => id))
      return known.filter((id) => back.has(id.toLowerCase()))
    },
    async remove(id, by) {
      if (!isId(id)) return 'not_found'
      for (let look = 0; look < SCANS; look++) {
        const [row] = await connection.api.ask<{ answer: RemoveAnswer | 'moving' }>(remove, [id, by])
        if (row!.answer !== 'moving') return row!.answer
      }
      return 'live'
    },
  }
}

const hintFor = (runs: readonly NewRun[]): Hint => ({
  kind: 'runs',
  queues: [...new Set(runs.map(({ queue }) => queue))],
})

/** Whether no id stands twice. */
const isOnce = (runs: readonly NewRun[]): boolean =>
  runs.length === 1 || new Set(runs.map(({ id }) => id)).size === runs.length

interface CancelRow {
  answer: CancelAnswer | 'moving'
  /** The queue of a run that ended and may have been in others' way. */
  freed: string | null
}

const MOVED = RUN_COLUMNS.filter((column) => !['state', 'cancel_requested', 'lease_until'].includes(column))

/**
 * One of three things happens: a run that nobody works on ends, any other is marked, or neither, because there is none, or
 * because it changed hands while this statement waited for it. The last is `moving`: the next look sees where it went.
 */
const cancelStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
ended as (
  delete from ${schema}.runs r where r.id = $1::uuid and (r.state = 'pending' or r.worker_id = '${NOBODY}') returning *
),
kept as (
  insert into ${schema}.history (${MOVED.join(', ')}, state, cancel_requested, finished_at, result)
  select ${MOVED.map((column) => `ended.${column}`).join(', ')}, 'cancelled', true, clock.now, 'null' from ended cross join clock
),
before as materialized (select id, cancel_requested from ${schema}.runs where id = $1::uuid),
marked as (
  update ${schema}.runs r set cancel_requested = true
  where r.id = $1::uuid and r.state = 'running' and r.worker_id <> '${NOBODY}'
  returning id, schedule_id
),
noted as (
  insert into ${schema}.journal (at, kind, run_id, schedule_id, data)
  select clock.now, 'cancel_requested', asked.id, asked.schedule_id, jsonb_build_object('by', $2::text)
  from (select id, schedule_id from ended union all select id, schedule_id from marked) asked
  join before on before.id = asked.id and not before.cancel_requested
  cross join clock
)
select case
  when exists (select 1 from ended) then 'cancelled'
  when exists (select 1 from marked) then 'cancelling'
  when exists (select 1 from before) then 'moving'
  when exists (select 1 from ${schema}.history where id = $1::uuid) then 'finished'
  else 'not_found'
end as answer, (select queue from ended where concurrency_group is not null) as freed`)

const LEFT = ['state', 'due_at', 'attempt', 'cancel_requested', 'worker_id', 'lease_until', 'started_at', 'progress']
const BACK = RUN_COLUMNS.filter((column) => !LEFT.includes(column) && column !== 'overlap')

const FAILED = { group: 'f.concurrency_group', place: 'coalesce(f.scheduled_at, clock.now)', due: 'clock.now' }

const backAs = (schema: string, { of, readiness }: { of: string; readiness: string }): string => `
  insert into ${schema}.runs (${BACK.join(', ')}, state, due_at, attempt, cancel_requested, overlap, readiness)
  select ${BACK.map((column) => `f.${column}`).join(', ')}, 'pending', clock.now, 0, false,
    case when f.concurrency_group is null then 'allow' else 'queue' end, ${readiness}
  from (${of}) f cross join clock
  on conflict (concurrency_group) where concurrency_group is not null and readiness = 'ready' do nothing
  returning id, queue`

/**
 * The fence goes on growing, so that a worker of the series before can never settle this one. What finds its group taken by
 * one that it could not see yet is inserted a second time, waiting.
 */
const retryStatement = (schema: string): Statement =>
  prepared(`
with clock as materialized (select ${schema}.now_at() as now),
failed as (
  delete from ${schema}.history where id = any(${readOnce(1, 'uuid')}) and state = 'failed' returning *
),
turn as materialized (select *, row_number() over (partition by concurrency_group order by created_at, id) as place from failed),
pending as (${backAs(schema, {
    of: 'select * from turn order by concurrency_group',
    readiness: `case when f.concurrency_group is null or (f.place = 1 and ${mayOpen(schema, FAILED)}) then 'ready' else 'blocked' end`,
  })}
),
behind as (${backAs(schema, {
    of: 'select * from turn where id not in (select id from pending)',
    readiness: `'blocked'`,
  })}
),
noted as (
  insert into ${schema}.journal (at, kind, run_id, schedule_id, data)
  select clock.now, 'retried', failed.id, failed.schedule_id,
    jsonb_build_object('by', $2::text, 'attempts', failed.attempt, 'error', failed.error)
  from failed cross join clock
)
select id, queue from pending union all select id, queue from behind`)
