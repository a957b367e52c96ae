/** Plans, without I/O, what a sync does to each stored schedule; `sync.ts` executes the plan. */
import { isDeepStrictEqual } from 'node:util'
import { pauseDetail } from '../plan/non-run.ts'
import type { Schedule, ScheduleDefinition } from '../schedule/schedule.ts'
import { type ScheduleInput, toScheduleInput } from './schedule-input.ts'

export type SyncAction =
  /** In code and not in the store. */
  | 'create'
  /** In both, with differences. */
  | 'update'
  /** A sync had paused it, and it is in code again: the sync resumes it, and changes it if it differs. */
  | 'take back'
  /** No longer in code: the sync pauses it, and the janitor deletes it after `retention.orphans`. */
  | 'orphan'
  /** No longer in code, and `removed` is `delete`. */
  | 'remove'
  /** Paused by an operator: it stays paused, whether it is in code or not. */
  | 'keep paused'

export interface SyncStep {
  readonly action: SyncAction
  /** `workspace/key`, for display. */
  readonly name: string
  readonly workspace: string
  readonly key: string
  /** Only the options that differ, as `schedule()` takes them; absent for a new schedule, or without differences. */
  readonly before?: Partial<ScheduleInput>
  readonly after?: Partial<ScheduleInput>
  /** Actor and reason of the pause, if it stays paused. */
  readonly paused?: string
}

/** The actor that pauses schedules no longer in code; pauses of other actors stay. */
export const SYNC = 'sync'

export interface SyncSight {
  /** The schedules declared in code. */
  readonly definitions: readonly ScheduleDefinition[]
  /** The stored schedules with the names that code declares, and all others that this app stored. */
  readonly stored: readonly Schedule[]
  /** What to do with schedules that are no longer in code. */
  readonly removed: 'pause' | 'delete'
}

/** Unchanged schedules have no step. */
export function planSync({ definitions, stored, removed }: SyncSight): SyncStep[] {
  const known = new Map(stored.map((schedule) => [nameOf(schedule), schedule]))
  const names = new Set(definitions.map(nameOf))
  const others = stored.filter((schedule) => !names.has(nameOf(schedule)))
  return [
    ...definitions.map((definition) => wanted(definition, known.get(nameOf(definition)))),
    ...others.map((schedule) => unwanted(schedule, removed)),
  ].filter((step) => step !== null)
}

interface Name {
  readonly workspace: string
  readonly key: string
}

/** Workspace and key may contain a slash, but no line break. */
export const nameOf = ({ workspace, key }: Name): string => `${workspace}\n${key}`

const about = ({ workspace, key }: Name): Pick<SyncStep, 'name' | 'workspace' | 'key'> => ({
  name: `${workspace}/${key}`,
  workspace,
  key,
})

function wanted(definition: ScheduleDefinition, schedule: Schedule | undefined): SyncStep | null {
  const who = about(definition)
  if (!schedule) return { action: 'create', ...who, after: toScheduleInput(definition) }
  const { pause } = schedule
  const difference = isSame(schedule, definition)
    ? null
    : differences(toScheduleInput(schedule), toScheduleInput(definition))
  if (pause?.by === SYNC) return { action: 'take back', ...who, ...difference }
  const paused = pause ? { paused: pauseDetail(pause) } : {}
  if (difference !== null) return { action: 'update', ...who, ...difference, ...paused }
  return pause ? { action: 'keep paused', ...who, ...paused } : null
}

function unwanted(schedule: Schedule, removed: 'pause' | 'delete'): SyncStep | null {
  const who = about(schedule)
  const { pause } = schedule
  if (pause && pause.by !== SYNC) return { action: 'keep paused', ...who, paused: pauseDetail(pause) }
  if (removed === 'delete') return { action: 'remove', ...who, before: toScheduleInput(schedule) }
  return pause ? null : { action: 'orphan', ...who }
}

const PARTS = [
  ...(['timing', 'job', 'queue', 'payload', 'priority', 'policy'] as const),
  ...(['catchUp', 'firing', 'description', 'tags', 'metadata', 'source'] as const),
]

/** A fast comparison, because most schedules are unchanged at every deploy. */
const isSame = (one: ScheduleDefinition, other: ScheduleDefinition): boolean =>
  PARTS.every((part) => isDeepStrictEqual(one[part], other[part]))

function differences(before: ScheduleInput, after: ScheduleInput): Pick<SyncStep, 'before' | 'after'> | null {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof ScheduleInput>
  const differing = [...keys].filter((key) => canonical(before[key]) !== canonical(after[key]))
  const only = (words: ScheduleInput): Partial<ScheduleInput> =>
    Object.fromEntries(differing.filter((key) => words[key] !== undefined).map((key) => [key, words[key]]))
  return differing.length === 0 ? null : { before: only(before), after: only(after) }
}

/** A database may return the keys of an object in another order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? ''
