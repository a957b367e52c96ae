/** What people do to runs in SQLite: make them by hand, cancel them, bring failed ones back; claims and their ends are `claims.ts`. */
import type { Clock } from '../../time/clock.ts'
import type { RunStore } from '../contract/runs.ts'
import { cancel } from './cancel.ts'
import type { Connection } from './connection.ts'
import { enqueueAll, type Ready, readRuns } from './enqueue.ts'
import { gathered } from './gather.ts'
import { isBehind } from './group-order.ts'
import { journal } from './journal.ts'
import { removeRun } from './remove-run.ts'
import { play, playIn } from './steps.ts'
import type { Wake } from './wake.ts'

const FAILED = `
  select concurrency_group, scheduled_at, attempt, error from everytick_history
  where id = ? and state = 'failed'`
// The fence goes on growing over retries, so that a worker of the series before can never settle this one.
const RETRY = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, concurrency_group, overlap, readiness,
    created_at, payload, policy, fence, idempotency_key, error)
  select id, workspace, job, queue, 'pending', trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, ?, concurrency_group, iif(concurrency_group is null, 'allow', 'queue'), ?,
    created_at, payload, policy, fence, idempotency_key, error
  from everytick_history where id = ? and state = 'failed'
  returning queue`
const FORGET = `delete from everytick_history where id = ?`

export function runStore(connection: Connection, clock: Clock, wake: Wake): RunStore {
  const enqueue = gathered(connection, (runs: readonly Ready[]) => enqueueAll(runs, clock.now()))

  return {
    async enqueue(runs, tx) {
      if (runs.length === 0) return []
      const now = clock.now()
      const ready = readRuns(runs, now)
      if (tx) return playIn(tx, enqueueAll(ready, now))
      const answers = await enqueue(ready)
      wake.hint({ kind: 'runs', queues: [...new Set(runs.map((run) => run.queue))] })
      return answers
    },
    async cancel(id, by) {
      const answer = await connection.write(() => cancel(connection, id, { at: clock.now(), by }))
      if (answer === 'cancelling') wake.hint({ kind: 'cancels' })
      return answer
    },
    async retry(ids, by) {
      if (ids.length === 0) return []
      const queues = new Set<string>()
      const moved = await connection.write(() => {
        const at = clock.now()
        return ids.filter((id) => retry(connection, id, { at, by, queues }))
      }, ids.length)
      if (queues.size > 0) wake.hint({ kind: 'runs', queues: [...queues] })
      return moved
    },
    remove: (id, by) => connection.write(() => removeRun(connection, id, { at: clock.now(), by })),
  }
}

interface RetryOptions {
  readonly at: number
  readonly by: string
  readonly queues: Set<string>
}

interface Failed {
  readonly concurrency_group: string | null
  readonly scheduled_at: number | null
  readonly attempt: number
  readonly error: string | null
}

function retry(connection: Connection, id: string, { at, by, queues }: RetryOptions): boolean {
  const [failed] = connection.all<Failed>(FAILED, id)
  if (failed === undefined) return false
  const { concurrency_group: group } = failed
  const waits = group !== null && play(connection, isBehind({ group, place: failed.scheduled_at ?? at, dueAt: at }, at))
  const [run] = connection.all<{ queue: string }>(RETRY, at, waits ? 'blocked' : 'ready', id)
  if (run === undefined) return false
  queues.add(run.queue)
  connection.run(FORGET, id)
  const error = failed.error === null ? null : JSON.parse(failed.error)
  journal(connection, { at, kind: 'retried', runId: id, data: { by, attempts: failed.attempt, error } })
  return true
}
