/** Makes runs that no plan made, as steps of one transaction; what is refused is refused before the first of them. */
import { toJsonText } from '../../json.ts'
import type { Enqueued, NewRun } from '../contract/runs.ts'
import type { Value } from './driver.ts'
import { isBehind } from './lane-line.ts'
import { textOf } from './rows.ts'
import { ask, type Steps } from './steps.ts'

const KNOWN = `
  select 1 from everytick_runs where id = ? union all select 1 from everytick_history where id = ?`
const INSERT = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, payload, policy, idempotency_key, lane, overlap, gate)
  values (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const REMEMBER = `
  insert into everytick_idempotency (workspace, key, run_id, created_at) values (?, ?, ?, ?)
  on conflict (workspace, key) do nothing
  returning run_id`
const RECALL = `select run_id from everytick_idempotency where workspace = ? and key = ?`

export interface Ready {
  readonly id: string
  readonly workspace: string
  readonly key: string | null
  readonly lane: string | null
  readonly place: number
  readonly dueAt: number
  readonly values: readonly Value[]
}

/** Everything that can be refused is refused here, before the first row is written. */
export function readRun(run: NewRun, now: number): Ready {
  const { id, slot } = run
  const workspace = textOf(run.workspace, 'workspace')
  const key = run.idempotencyKey === null ? null : textOf(run.idempotencyKey, 'idempotencyKey')
  const lane = run.lane === null ? null : textOf(run.lane, 'lane')
  const dueAt = 'at' in run.due ? run.due.at : now + run.due.delayMs
  const schedule = run.schedule ?? { id: null, key: null, revision: null }
  const values = [
    ...[id, workspace, textOf(run.job, 'job'), textOf(run.queue, 'queue'), run.trigger, run.priority],
    ...[schedule.id, schedule.key, schedule.revision, slot?.scheduledAt ?? null, slot?.slotStartAt ?? null, dueAt, now],
    ...[toJsonText(run.payload, { what: 'payload' }), toJsonText(run.policy, { what: 'policy' }), key],
    ...[lane, run.overlap],
  ]
  return { id, workspace, key, lane, place: slot?.scheduledAt ?? dueAt, dueAt, values }
}

export function* enqueueAll(runs: readonly Ready[], now: number): Steps<Enqueued[]> {
  const answers: Enqueued[] = []
  for (const { id, workspace, key, lane, place, dueAt, values } of runs) {
    const known = key === null ? undefined : yield* recall({ id, workspace, key }, now)
    if (known !== undefined) {
      answers.push({ id: known, created: false })
      continue
    }
    // A backfill names its runs so that a repetition is none.
    const isMade = (yield* ask(KNOWN, id, id)).length > 0
    answers.push({ id, created: !isMade })
    if (isMade) continue
    const gate = lane !== null && (yield* isBehind({ lane, place, dueAt }, now)) ? 'waiting' : 'open'
    yield { text: INSERT, values: [...values, gate] }
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
