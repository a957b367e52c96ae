/** How runs and schedules look as rows, in both directions; which rows are wanted is decided by the verbs. */
import { type Json, toJsonText } from '../../json.ts'
import { OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { Overlap, Progress, Readiness, Run, RunError, RunPolicy, Trigger } from '../../run/run.ts'
import type { RunState } from '../../run/state.ts'
import type { CatchUpPolicy, FiringPolicy, Pause, Quarantine, Schedule, TimingSpec } from '../../schedule/schedule.ts'
import type { RunContent } from '../contract/history.ts'
import { interned } from '../interned.ts'

/** SQL for an instant as epoch milliseconds. In float8 throughout: numeric, which `extract` answers, costs several times more. */
export const msOf = (column: string): string => `round(date_part('epoch', ${column}) * 1000)`

/** SQL for epoch milliseconds as an instant of the precision that is stored. */
export const instantAt = (ms: string): string => `to_timestamp(${ms} / 1000)::timestamptz(3)`

/** SQL for a span of so many milliseconds. */
export const spanOf = (ms: string): string => `${ms} * interval '1 millisecond'`

/** The columns that live and finished runs share, in the order in which a run moves between the two. */
export const RUN_COLUMNS = [
  'id', 'workspace', 'job', 'queue', 'state', 'trigger', 'priority', 'schedule_id', 'schedule_key', 'schedule_revision',
  'scheduled_at', 'slot_start_at', 'due_at', 'created_at', 'payload', 'policy', 'attempt', 'fence', 'worker_id',
  'lease_until', 'started_at', 'cancel_requested', 'idempotency_key', 'progress', 'error', 'concurrency_group', 'overlap',
] as const // biome-ignore format: a list of names

const INSTANTS: ReadonlySet<string> = new Set([
  'scheduled_at',
  'slot_start_at',
  'due_at',
  'created_at',
  'lease_until',
  'started_at',
])

const read = (column: string, of: string, omit: readonly string[]): string => {
  if (omit.includes(column)) return `null::jsonb as ${column}`
  if (INSTANTS.has(column)) return `${msOf(`${of}.${column}`)} as ${column}`
  // As text, because a few policies stand in very many rows, and each is read once.
  return column === 'policy' ? `${of}.policy::text as policy` : `${of}.${column}`
}

/** What a run is read from; `of` is the name of a table in the statement, live unless it is said to be finished. */
export const runFields = (
  of: string,
  columns: readonly string[] = RUN_COLUMNS,
  omit: readonly RunContent[] = [],
): string => columns.map((column) => read(column, of, omit)).join(', ')
export const liveFields = (of: string, omit: readonly RunContent[] = []): string =>
  `${runFields(of, RUN_COLUMNS, omit)}, ${of}.claim_id, ${of}.readiness, null::float8 as finished_at, 'null'::jsonb as result`
export const finishedFields = (of: string, omit: readonly RunContent[] = []): string =>
  `${runFields(of, RUN_COLUMNS, omit)}, null::uuid as claim_id, 'ready' as readiness,
  ${msOf(`${of}.finished_at`)} as finished_at, ${read('result', of, omit)}`

/** SQL that holds for a new run, due soon, in whose group nobody is open nor, by the place in line, before it. */
export const mayOpen = (
  schema: string,
  { group, place, due }: { group: string; place: string; due: string },
): string => `(
  ${due} <= (select now from clock) + ${spanOf(String(OPEN_AHEAD_MS))}
  and (select 1 from ${schema}.runs where concurrency_group = ${group} and readiness = 'ready' limit 1) is null
  and (select 1 from ${schema}.runs where concurrency_group = ${group} and readiness <> 'ready' and coalesce(scheduled_at, due_at) < ${place} limit 1) is null
)`

/**
 * SQL that holds for a run `r` while it is claimed under the fence and the claim that `g`, a row of the list `given`, names. The ids are
 * asked for apart from the join, so that the server looks runs up by their key, whatever it believes about the join.
 */
export const claimedBy = (g: string): string =>
  `r.id = any(array(select id from given)) and r.id = ${g}.id and r.fence = ${g}.fence and r.claim_id is not distinct from ${g}.claim
    and r.state = 'running'`

/** In the row of a run that was handed over: while a run is running the column must name a worker, and nobody has this name. */
export const NOBODY = ''

export interface RunRow {
  id: string
  workspace: string
  job: string
  queue: string
  state: RunState
  trigger: Trigger
  priority: number
  schedule_id: string | null
  schedule_key: string | null
  schedule_revision: number | null
  scheduled_at: number | null
  slot_start_at: number | null
  due_at: number
  created_at: number
  payload: Json
  policy: string
  attempt: number
  fence: number
  claim_id: string | null
  worker_id: string | null
  lease_until: number | null
  started_at: number | null
  cancel_requested: boolean
  idempotency_key: string | null
  progress: Progress | null
  error: RunError | null
  concurrency_group: string | null
  overlap: Overlap
  readiness: Readiness
  finished_at: number | null
  result: Json
}

export function runOf(row: RunRow): Run {
  return {
    id: row.id,
    workspace: row.workspace,
    job: row.job,
    queue: row.queue,
    state: row.state,
    trigger: row.trigger,
    priority: row.priority,
    schedule:
      row.schedule_id === null
        ? null
        : { id: row.schedule_id, key: row.schedule_key ?? '', revision: row.schedule_revision ?? 0 },
    scheduledAt: row.scheduled_at,
    slotStartAt: row.slot_start_at,
    dueAt: row.due_at,
    group: row.concurrency_group,
    overlap: row.overlap,
    readiness: row.readiness,
    createdAt: row.created_at,
    payload: row.payload,
    policy: interned<RunPolicy>(row.policy),
    attempt: row.attempt,
    fence: row.fence,
    claimId: row.claim_id,
    workerId: row.worker_id || null,
    leaseUntil: row.lease_until,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    cancelRequested: row.cancel_requested,
    idempotencyKey: row.idempotency_key,
    result: row.result,
    error: row.error,
    progress: row.progress,
  }
}

export const progressText = (progress: Progress | null | undefined): string | null =>
  progress ? toJsonText(progress, { what: 'progress' }) : null

const SCHEDULE_COLUMNS =
  'id, workspace, key, revision, job, queue, payload, priority, policy, timing, catch_up, firing, description, tags, metadata, source, pause, quarantine, created_by, updated_by'

/** A schedule `s` with its cursor `c`, without the columns that are left out. */
export const scheduleFields = (omit: readonly string[] = []): string => `${SCHEDULE_COLUMNS.split(', ')
  .map((column) => (omit.includes(column) ? `null::jsonb as ${column}` : `s.${column}`))
  .join(', ')}, ${msOf('s.created_at')} as created_at, ${msOf('s.updated_at')} as updated_at,
  ${msOf('s.since_at')} as since_at, ${msOf('c.next_at')} as next_at, ${msOf('c.watermark_at')} as watermark_at, c.run_count`
export const SCHEDULE_FIELDS = scheduleFields()

export interface ScheduleRow {
  id: string
  workspace: string
  key: string
  revision: number
  timing: TimingSpec
  job: string
  queue: string
  payload: Json
  priority: number
  policy: RunPolicy
  catch_up: CatchUpPolicy
  firing: FiringPolicy
  description: string
  tags: string[]
  metadata: Json
  source: Schedule['source']
  created_at: number
  created_by: string
  updated_at: number
  updated_by: string
  since_at: number
  pause: Pause | null
  quarantine: Quarantine | null
  next_at: number | null
  watermark_at: number
  run_count: number
}

export function scheduleOf(row: ScheduleRow): Schedule {
  const {
    catch_up,
    created_at,
    created_by,
    updated_at,
    updated_by,
    since_at,
    next_at,
    watermark_at,
    run_count,
    ...rest
  } = row
  return {
    ...rest,
    catchUp: catch_up,
    createdAt: created_at,
    createdBy: created_by,
    updatedAt: updated_at,
    updatedBy: updated_by,
    sinceAt: since_at,
    nextAt: next_at,
    watermarkAt: watermark_at,
    runCount: run_count,
  }
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Before all others, for a walk from the beginning. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Whether the column could hold it at all; a question about anything else has the answer "nothing". */
export const isId = (text: string): boolean => UUID.test(text)
