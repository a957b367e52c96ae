/** Makes runs that no plan made, as steps of one transaction; what is refused is refused before the first of them. */
import { toJsonText } from '../../json.ts'
import type { Enqueued, NewRun } from '../contract/runs.ts'
import { pairsText, stretchesOf } from './batch.ts'
import type { Value } from './driver.ts'
import { isBehind } from './group-order.ts'
import { textOf } from './rows.ts'
import { ask, type Steps } from './steps.ts'

// Ids made by hand are made in order, so that those of one call mostly have no others between them.
export const BETWEEN = `select 1 as found from everytick_runs where id between ? and ? limit 1`
export const KNOWN = `
  select j.value as id from json_each(?) j
  where exists (select 1 from everytick_runs r where r.id = j.value)
    or exists (select 1 from everytick_history h where h.id = j.value)
    or exists (select 1 from everytick_deleted_runs d where d.id = j.value)`
// All that a stretch of runs has in common once, and of each its id and its payload.
const INSERT = `
  insert into everytick_runs (id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key,
    schedule_revision, scheduled_at, slot_start_at, due_at, created_at, policy, idempotency_key, concurrency_group, overlap, readiness, payload)
  select j.key, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, j.value from json_each(?) j`
const REMEMBER = `
  insert into everytick_idempotency (workspace, key, run_id, created_at) values (?, ?, ?, ?)
  on conflict (workspace, key) do nothing
  returning run_id`
const RECALL = `select run_id from everytick_idempotency where workspace = ? and key = ?`

/** All that a run is beside its id and payload. */
interface Kind {
  readonly workspace: string
  readonly queue: string
  readonly key: string | null
  readonly group: string | null
  readonly place: number
  readonly dueAt: number
  /** Whether its id says which occurrence it is, so that a repetition has the same. */
  readonly isNamed: boolean
  readonly values: readonly Value[]
}

export interface Ready {
  readonly id: string
  readonly payload: string
  readonly kind: Kind
}

/** Everything that can be refused is refused here, before the first row is written. */
export function readRuns(runs: readonly NewRun[], now: number): Ready[] {
  // Runs of one job share one policy.
  const policies = new Map<NewRun['policy'], string>()
  const policyOf = (policy: NewRun['policy']): string => {
    let text = policies.get(policy)
    if (text === undefined) policies.set(policy, (text = toJsonText(policy, { what: 'policy' })))
    return text
  }
  let [before, kind]: [NewRun?, Kind?] = []
  return runs.map((run) => {
    if (kind === undefined || !isUniform(run, before!)) kind = readKind(run, { now, policy: policyOf(run.policy) })
    before = run
    return { id: run.id, payload: run.payload === null ? 'null' : toJsonText(run.payload, { what: 'payload' }), kind }
  })
}

/** Whether both are of one kind, at a glance, as neighbours mostly are. */
const isUniform = (run: NewRun, other: NewRun): boolean =>
  run.job === other.job &&
  run.queue === other.queue &&
  run.workspace === other.workspace &&
  run.trigger === other.trigger &&
  run.priority === other.priority &&
  run.policy === other.policy &&
  run.schedule === other.schedule &&
  run.slot === other.slot &&
  run.group === other.group &&
  run.overlap === other.overlap &&
  run.due === other.due &&
  run.idempotencyKey === other.idempotencyKey

function readKind(run: NewRun, { now, policy }: { now: number; policy: string }): Kind {
  const { slot, schedule } = run
  const workspace = textOf(run.workspace, 'workspace')
  const [job, queue] = [textOf(run.job, 'job'), textOf(run.queue, 'queue')]
  const key = run.idempotencyKey === null ? null : textOf(run.idempotencyKey, 'idempotencyKey')
  const group = run.group === null ? null : textOf(run.group, 'concurrency_group')
  const dueAt = 'at' in run.due ? run.due.at : now + run.due.delayMs
  const [scheduledAt, slotStartAt] = slot === null ? [null, null] : [slot.scheduledAt, slot.slotStartAt]
  const values = [
    ...[workspace, job, queue, run.trigger, run.priority],
    ...[schedule?.id ?? null, schedule?.key ?? null, schedule?.revision ?? null],
    ...[scheduledAt, slotStartAt, dueAt, now, policy, key, group, run.overlap],
  ]
  return { workspace, queue, key, group, place: scheduledAt ?? dueAt, dueAt, isNamed: slot !== null, values }
}

export function* enqueueAll(runs: readonly Ready[], now: number): Steps<Enqueued[]> {
  if (runs.length === 0) return []
  const inOrder = areInOrder(runs)
  const known = yield* knownOf(runs, inOrder)
  const isEachNew = inOrder && known.size === 0 && runs.every(({ kind }) => kind.key === null)
  const { answers, fresh } = isEachNew ? allNew(runs) : yield* sortedOut(runs, known, now)
  const stretches = [...stretchesOf(fresh, { uniform, lengthOf: ({ payload }) => payload.length })]
  yield* insertAll(stretches, now)
  return answers
}

/** As those of one caller mostly are; then no id occurs twice, and the first and the last are the ends. */
const areInOrder = (runs: readonly Ready[]): boolean => {
  let last = ''
  for (const { id } of runs) {
    if (id <= last) return false
    last = id
  }
  return true
}

const endsOf = (runs: readonly Ready[], inOrder: boolean): [first: string, last: string] => {
  let [first, last] = [runs[0]!.id, runs.at(-1)!.id]
  if (inOrder) return [first, last]
  for (const { id } of runs) {
    if (id > last) last = id
    if (id < first) first = id
  }
  return [first, last]
}

/** The ids that are live, and of those that are named also the ones that have ended. */
function* knownOf(runs: readonly Ready[], inOrder: boolean): Steps<Set<string>> {
  const ends = endsOf(runs, inOrder)
  const idsOf = (some: readonly Ready[]): string[] => some.map(({ id }) => id)
  const known = new Set<string>()
  const isAnyNamed = runs.some(({ kind }) => kind.isNamed)
  if (!isAnyNamed && (yield* ask(BETWEEN, ...ends)).length === 0) return known
  for (const stretch of stretchesOf(runs, { lengthOf: ({ id }) => id.length })) {
    for (const { id } of yield* ask<{ id: string }>(KNOWN, JSON.stringify(idsOf(stretch)))) known.add(id)
  }
  return known
}

interface Sorted {
  readonly answers: Enqueued[]
  readonly fresh: readonly Ready[]
}

const allNew = (runs: readonly Ready[]): Sorted => ({
  answers: runs.map(({ id }) => ({ id, created: true })),
  fresh: runs,
})

function* sortedOut(runs: readonly Ready[], made: Set<string>, now: number): Steps<Sorted> {
  const answers: Enqueued[] = []
  const fresh: Ready[] = []
  for (const run of runs) {
    const { key } = run.kind
    const known = key === null ? undefined : yield* recall(run, key, now)
    answers.push(known === undefined ? { id: run.id, created: !made.has(run.id) } : { id: known, created: false })
    if (known !== undefined || made.has(run.id)) continue
    made.add(run.id)
    fresh.push(run)
  }
  return { answers, fresh }
}

const pairsOf = (runs: readonly Ready[]): string => pairsText(runs.map(({ id, payload }) => [id, payload]))

/** In the order of the input. */
function* insertAll(stretches: readonly Ready[][], now: number): Steps<void> {
  for (const stretch of stretches) {
    const { group, place, dueAt, values } = stretch[0]!.kind
    const readiness = group !== null && (yield* isBehind({ group, place, dueAt }, now)) ? 'blocked' : 'ready'
    yield { text: INSERT, values: [...values, readiness, pairsOf(stretch)], rows: stretch.length }
  }
}

/** Who has a concurrency group stands alone, since whether it waits depends on the one before. */
const uniform = ({ kind: a }: Ready, { kind: b }: Ready): boolean =>
  a.group === null && b.group === null && (a === b || a.values.every((value, i) => value === b.values[i]))

/** The run that the key already stands for; undefined when it stands for this one from now on. */
function* recall({ id, kind }: Ready, key: string, now: number): Steps<string | undefined> {
  const fresh = yield* ask(REMEMBER, kind.workspace, key, id, now)
  if (fresh.length > 0) return undefined
  const [known] = yield* ask<{ run_id: string }>(RECALL, kind.workspace, key)
  return known?.run_id
}
