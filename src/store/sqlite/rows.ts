/** How rows become runs and schedules, and which text may become part of a row; which rows is each verb's business. */
import { EverytickError } from '../../errors.ts'
import { pauseDetail } from '../../plan/non-run.ts'
import type { DueSchedule } from '../../plan/plan.ts'
import type { Run } from '../../run/run.ts'
import type { Pause, Schedule } from '../../schedule/schedule.ts'

// One JSON text per row costs half of what a driver takes to hand over the columns one by one.
const objectOf = (properties: Readonly<Record<string, string>>): string =>
  `json_object(${Object.entries(properties)
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(', ')})`

const runAs = (end: { gate: string; leaseUntil: string; finishedAt: string; result: string }): string =>
  objectOf({
    id: 'id',
    workspace: 'workspace',
    job: 'job',
    queue: 'queue',
    state: 'state',
    trigger: 'trigger',
    priority: 'priority',
    schedule: `iif(schedule_id is null, null, ${objectOf({ id: 'schedule_id', key: 'schedule_key', revision: 'schedule_revision' })})`,
    scheduledAt: 'scheduled_at',
    slotStartAt: 'slot_start_at',
    dueAt: 'due_at',
    lane: 'lane',
    overlap: 'overlap',
    createdAt: 'created_at',
    payload: 'json(payload)',
    policy: 'json(policy)',
    attempt: 'attempt',
    fence: 'fence',
    workerId: 'worker_id',
    startedAt: 'started_at',
    cancelRequested: `json(iif(cancel_requested, 'true', 'false'))`,
    idempotencyKey: 'idempotency_key',
    error: 'json(error)',
    progress: 'json(progress)',
    ...end,
  })

/** A row of the hot table, and one of history, as a run. */
export const LIVE_RUN = `${runAs({ gate: 'gate', leaseUntil: 'lease_until', finishedAt: 'null', result: 'null' })} as run`
export const FINISHED_RUN = `${runAs({
  gate: `'open'`,
  leaseUntil: 'null',
  finishedAt: 'finished_at',
  result: 'json(result)',
})} as run`

export interface RunRow {
  readonly run: string
}

export const runOf = ({ run }: RunRow): Run => JSON.parse(run) as Run

const dueProperties = {
  id: 's.id',
  workspace: 's.workspace',
  key: 's.key',
  revision: 's.revision',
  timing: 'json(s.timing)',
  catchUp: 'json(s.catch_up)',
  firing: 'json(s.firing)',
  nextAt: 'c.next_at',
  watermarkAt: 'c.watermark_at',
  made: 'c.made',
  pause: 'json(s.pause)',
}

/** A schedule `s` with its cursor `c`: what planning needs, and all of it. */
export const DUE_SCHEDULE = `${objectOf(dueProperties)} as schedule`
export const SCHEDULE = `${objectOf({
  ...dueProperties,
  job: 's.job',
  queue: 's.queue',
  payload: 'json(s.payload)',
  priority: 's.priority',
  policy: 'json(s.policy)',
  description: 's.description',
  tags: 'json(s.tags)',
  metadata: 'json(s.metadata)',
  source: 's.source',
  createdAt: 's.created_at',
  createdBy: 's.created_by',
  updatedAt: 's.updated_at',
  updatedBy: 's.updated_by',
  sinceAt: 's.since_at',
  quarantine: 'json(s.quarantine)',
})} as schedule`

export interface ScheduleRow {
  readonly schedule: string
}

export function dueOf({ schedule }: ScheduleRow): DueSchedule {
  const { pause, ...due } = JSON.parse(schedule) as DueSchedule & { readonly pause: Pause | null }
  return { ...due, pausedUntil: pause?.until ?? null, pauseDetail: pause === null ? '' : pauseDetail(pause) }
}
export const scheduleOf = ({ schedule }: ScheduleRow): Schedule => JSON.parse(schedule) as Schedule

/** Half of a surrogate pair without the other. */
const LONE_SURROGATE = /\p{Surrogate}/u

/** Text as it may be stored: some runtimes cut it at a NUL, and abort when they read back what is not Unicode. */
export function textOf(text: string, what: string): string {
  if (!text.includes('\0') && !LONE_SURROGATE.test(text)) return text
  throw new EverytickError('OPTION_INVALID', `${what} holds a NUL or half a character: ${JSON.stringify(text)}`)
}
