/** Runs made by hand in SQLite, and what operators do to runs; grants and their ends are `claims.ts`. */
import { toJsonText } from '../../json.ts'
import type { Clock } from '../../time/clock.ts'
import type { Enqueued, NewRun, RunStore } from '../contract/runs.ts'
import type { Connection } from './connection.ts'
import type { Value } from './driver.ts'
import { ANY_LEASE, finish } from './finish.ts'
import { journal } from './journal.ts'
import { textOf } from './rows.ts'
import { ask, play, playIn, type Steps } from './steps.ts'
import type { Wake } from './wake.ts'

const INSERT = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, due_at, created_at, payload, policy, idempotency_key)
  values (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const REMEMBER = `
  insert into everytick_idempotency (workspace, key, run_id, created_at) values (?, ?, ?, ?)
  on conflict (workspace, key) do nothing
  returning run_id`
const RECALL = `select run_id from everytick_idempotency where workspace = ? and key = ?`
const FIND = `
  select state, fence, cancel_requested from everytick_runs where id = ?
  union all select state, fence, cancel_requested from everytick_history where id = ?`
const REQUEST_CANCEL = `update everytick_runs set cancel_requested = 1 where id = ?`
// The fence goes on growing over redrives, so that a worker of the series before can never settle this one.
const REDRIVE = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, payload, policy, fence, idempotency_key, error)
  select id, workspace, job, queue, 'pending', trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, ?, created_at, payload, policy, fence, idempotency_key, error
  from everytick_history where id = ? and state = 'failed'
  returning queue`
const FORGET = `delete from everytick_history where id = ? returning attempt, error`

interface Ready {
  readonly id: string
  readonly workspace: string
  readonly key: string | null
  readonly values: readonly Value[]
}

export function runStore(connection: Connection, clock: Clock, wake: Wake): RunStore {
  return {
    async enqueue(runs, tx) {
      if (runs.length === 0) return []
      const now = clock.now()
      const ready = runs.map((run) => readRun(run, now))
      if (tx) return playIn(tx, enqueueAll(ready, now))
      const answers = await connection.write(() => play(connection, enqueueAll(ready, now)), ready.length)
      wake.hint({ kind: 'runs', queues: [...new Set(runs.map((run) => run.queue))] })
      return answers
    },
    cancel: (id, by) =>
      connection.write(() => {
        const [run] = connection.all<{ state: string; fence: number; cancel_requested: number }>(FIND, id, id)
        if (run === undefined) return 'not_found'
        if (run.state !== 'pending' && run.state !== 'running') return 'finished'
        const at = clock.now()
        if (run.cancel_requested === 0) journal(connection, { at, kind: 'cancel_requested', runId: id, data: { by } })
        connection.run(REQUEST_CANCEL, id)
        if (run.state === 'running') return 'cancelling'
        const seen = { id, fence: run.fence, state: 'pending', leaseBy: ANY_LEASE } as const
        finish(connection, seen, { state: 'cancelled', at, error: null, result: null, progress: null })
        return 'cancelled'
      }),
    async redrive(ids, by) {
      if (ids.length === 0) return []
      const queues = new Set<string>()
      const moved = await connection.write(() => {
        const at = clock.now()
        return ids.filter((id) => redrive(connection, id, { at, by, queues }))
      }, ids.length)
      if (queues.size > 0) wake.hint({ kind: 'runs', queues: [...queues] })
      return moved
    },
  }
}

/** Everything that can be refused is refused here, before the first row is written. */
function readRun(run: NewRun, now: number): Ready {
  const workspace = textOf(run.workspace, 'workspace')
  const key = run.idempotencyKey === null ? null : textOf(run.idempotencyKey, 'idempotencyKey')
  const dueAt = 'at' in run.due ? run.due.at : now + run.due.delayMs
  const schedule = run.schedule ?? { id: null, key: null, revision: null }
  const values = [
    ...[run.id, workspace, textOf(run.job, 'job'), textOf(run.queue, 'queue'), run.trigger, run.priority],
    ...[schedule.id, schedule.key, schedule.revision, dueAt, now],
    ...[toJsonText(run.payload, { what: 'payload' }), toJsonText(run.policy, { what: 'policy' }), key],
  ]
  return { id: run.id, workspace, key, values }
}

function* enqueueAll(runs: readonly Ready[], now: number): Steps<Enqueued[]> {
  const answers: Enqueued[] = []
  for (const { id, workspace, key, values } of runs) {
    const known = key === null ? undefined : yield* recall({ id, workspace, key }, now)
    if (known === undefined) yield { text: INSERT, values }
    answers.push(known === undefined ? { id, created: true } : { id: known, created: false })
  }
  return answers
}

/** The run that the key already stands for; undefined when it stands for this one from now on. */
function* recall(run: { id: string; workspace: string; key: string }, now: number): Steps<string | undefined> {
  const fresh = yield* ask(REMEMBER, run.workspace, run.key, run.id, now)
  if (fresh.length > 0) return undefined
  const [known] = yield* ask<{ run_id: string }>(RECALL, run.workspace, run.key)
  return known?.run_id
}

interface Redrive {
  readonly at: number
  readonly by: string
  readonly queues: Set<string>
}

function redrive(connection: Connection, id: string, { at, by, queues }: Redrive): boolean {
  const [run] = connection.all<{ queue: string }>(REDRIVE, at, id)
  if (run === undefined) return false
  queues.add(run.queue)
  const [past] = connection.all<{ attempt: number; error: string | null }>(FORGET, id)
  const error = past?.error ? JSON.parse(past.error) : null
  journal(connection, { at, kind: 'redriven', runId: id, data: { by, attempts: past?.attempt ?? 0, error } })
  return true
}
