/** How rows become schedules, and which text may become part of a row; runs are `run-rows.ts`, and which rows is each verb's business. */
import { EverytickError } from '../../errors.ts'
import { pauseDetail } from '../../plan/non-run.ts'
import type { DueSchedule } from '../../plan/plan.ts'
import type { Pause, Schedule } from '../../schedule/schedule.ts'
import { interned } from '../interned.ts'

// One JSON text costs a fraction of what a driver takes to hand over columns one by one.
const objectOf = (properties: Readonly<Record<string, string>>): string =>
  `json_object(${Object.entries(properties)
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(', ')})`

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
  runCount: 'c.run_count',
  pause: 'json(s.pause)',
}

/** A schedule `s` with its cursor `c`: what planning needs, without names and with its JSON as text; and all of it. */
export const DUE_SCHEDULE = `json_array(s.id, s.workspace, s.key, s.revision, s.timing, s.catch_up, s.firing, c.next_at,
  c.watermark_at, c.run_count, s.pause)`
const scheduleProperties = {
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
}
export const SCHEDULE = `${objectOf(scheduleProperties)} as schedule`
export const SCHEDULE_WITHOUT_PAYLOAD = `${objectOf({ ...scheduleProperties, payload: 'null' })} as schedule`

/** How large what is read of a schedule is. Of a text SQLite knows its length without reading it. */
export const scheduleSize = (omitPayload: boolean): string =>
  [...(omitPayload ? [] : ['payload']), 'timing', 'metadata', 'description', 'tags', 'policy']
    .map((column) => `coalesce(octet_length(s.${column}), 0)`)
    .join(' + ')

export interface ScheduleRow {
  readonly schedule: string
}

/** The values of a due schedule, in the order of `DUE_SCHEDULE`. */
type DueValues = readonly [
  ...[id: string, workspace: string, key: string, revision: number, timing: string, catchUp: string, firing: string],
  ...[nextAt: number, watermarkAt: number, runCount: number, pause: string | null],
]

/** Many that came as one text. */
export const duesOf = (text: string): DueSchedule[] => (JSON.parse(text) as DueValues[]).map(dueOf)

function dueOf(row: DueValues): DueSchedule {
  const pause = row[10] === null ? null : (JSON.parse(row[10]) as Pause)
  return {
    id: row[0],
    workspace: row[1],
    key: row[2],
    revision: row[3],
    timing: interned(row[4]),
    catchUp: interned(row[5]),
    firing: interned(row[6]),
    nextAt: row[7],
    watermarkAt: row[8],
    runCount: row[9],
    pausedUntil: pause?.until ?? null,
    pauseDetail: pause === null ? '' : pauseDetail(pause),
  }
}

export const scheduleOf = ({ schedule }: ScheduleRow): Schedule => JSON.parse(schedule) as Schedule

/** Half of a surrogate pair without the other. */
const LONE_SURROGATE = /\p{Surrogate}/u

/** Text as it may be stored: some runtimes cut it at a NUL, and abort when they read back what is not Unicode. */
export function textOf(text: string, what: string): string {
  if (!text.includes('\0') && !LONE_SURROGATE.test(text)) return text
  throw new EverytickError('OPTION_INVALID', `${what} holds a NUL or half a character: ${JSON.stringify(text)}`)
}
