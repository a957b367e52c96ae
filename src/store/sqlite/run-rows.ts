/** How rows become runs, by the shortest way there is, since every run takes it; which rows is each verb's business. */
import type { Json } from '../../json.ts'
import type { Run, RunPolicy } from '../../run/run.ts'
import type { RunContent } from '../contract/history.ts'
import { interned } from '../interned.ts'

// One JSON text without names costs a third of what a driver takes to hand over the columns. What is JSON in a row comes
// as text, so that the database need not read it.
const runAs = (end: {
  readiness: string
  claimId: string
  leaseUntil: string
  finishedAt: string
  result: string
  payload?: string
}): string =>
  `json_array(id, workspace, job, queue, state, trigger, priority, schedule_id, schedule_key, schedule_revision, scheduled_at,
    slot_start_at, due_at, concurrency_group, overlap, ${end.readiness}, created_at, ${end.payload ?? 'payload'}, policy, attempt, fence, worker_id,
    ${end.leaseUntil}, started_at, ${end.finishedAt}, cancel_requested, idempotency_key, ${end.result}, error, progress, ${end.claimId})`

/** A row of the hot table, and one of history, as a run. */
const liveAs = (omit: readonly RunContent[]): string =>
  runAs({
    readiness: 'readiness',
    claimId: 'claim_id',
    leaseUntil: 'lease_until',
    finishedAt: 'null',
    result: 'null',
    payload: omit.includes('payload') ? 'null' : 'payload',
  })
const finishedAs = (omit: readonly RunContent[]): string =>
  runAs({
    readiness: `'ready'`,
    claimId: 'null',
    leaseUntil: 'null',
    finishedAt: 'finished_at',
    result: omit.includes('result') ? 'null' : 'result',
    payload: omit.includes('payload') ? 'null' : 'payload',
  })
export const LIVE = liveAs([])
export const FINISHED = finishedAs([])
export const LIVE_RUN = `${LIVE} as run`
export const FINISHED_RUN = `${FINISHED} as run`

/** One run by its row. */
export const runAt = (table: 'everytick_runs' | 'everytick_history', omit: readonly RunContent[] = []): string =>
  `select ${(table === 'everytick_runs' ? liveAs : finishedAs)(omit)} as run from ${table} where rowid = ?`

/** How large what is read of a run is. Of a text SQLite knows its length without reading it. */
export const runSize = (table: 'everytick_runs' | 'everytick_history', omit: readonly RunContent[] = []): string =>
  ['payload', ...(table === 'everytick_history' ? ['result'] : []), 'error', 'progress', 'policy']
    .filter((column) => !omit.some((each) => each === column))
    .map((column) => `coalesce(octet_length(${column}), 0)`)
    .join(' + ')

/** In the row of a run that was handed over: while a run is running the column must name a worker, and nobody has this name. */
export const NOBODY = ''

export interface RunRow {
  readonly run: string
}

/** The values of a run, in the order of `runAs`. */
type RunValues = readonly [
  ...[id: string, workspace: string, job: string, queue: string, state: Run['state'], trigger: Run['trigger']],
  ...[priority: number, scheduleId: string | null, scheduleKey: string, scheduleRevision: number],
  ...[scheduledAt: number | null, slotStartAt: number | null, dueAt: number, group: string | null],
  ...[
    overlap: Run['overlap'],
    readiness: Run['readiness'],
    createdAt: number,
    payload: string,
    policy: string,
    attempt: number,
  ],
  ...[fence: number, workerId: string | null, leaseUntil: number | null, startedAt: number | null],
  ...[finishedAt: number | null, cancelRequested: number, idempotencyKey: string | null],
  ...[result: string | null, error: string | null, progress: string | null, claimId: string | null],
]

export const runOf = ({ run }: RunRow): Run => runFrom(JSON.parse(run) as RunValues)

/** Many runs that came as one text. */
export const runsOf = (text: string): Run[] => (JSON.parse(text) as RunValues[]).map(runFrom)

// By place and in one literal: taking such an array apart by name, or spreading objects, costs ten times as much.
function runFrom(row: RunValues): Run {
  return {
    id: row[0],
    workspace: row[1],
    job: row[2],
    queue: row[3],
    state: row[4],
    trigger: row[5],
    priority: row[6],
    schedule: row[7] === null ? null : { id: row[7], key: row[8], revision: row[9] },
    scheduledAt: row[10],
    slotStartAt: row[11],
    dueAt: row[12],
    group: row[13],
    overlap: row[14],
    readiness: row[15],
    createdAt: row[16],
    payload: parsed<Json>(row[17]),
    policy: interned<RunPolicy>(row[18]),
    attempt: row[19],
    fence: row[20],
    claimId: row[30],
    workerId: row[21] || null,
    leaseUntil: row[22],
    startedAt: row[23],
    finishedAt: row[24],
    cancelRequested: row[25] === 1,
    idempotencyKey: row[26],
    result: parsed<Json>(row[27]),
    error: parsed<Run['error']>(row[28]),
    progress: parsed<Run['progress']>(row[29]),
  }
}

export const parsed = <T>(text: string | null): T | null =>
  text === null || text === 'null' ? null : (JSON.parse(text) as T)
