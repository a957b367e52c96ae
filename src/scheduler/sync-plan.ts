/** Decides, purely, what a sync does to each stored schedule; doing it is `sync.ts`. */
import { isDeepStrictEqual } from 'node:util'
import { pauseDetail } from '../plan/non-run.ts'
import type { Schedule, ScheduleDefinition } from '../schedule/schedule.ts'
import { type ScheduleInput, toScheduleInput } from './schedule-input.ts'

export type SyncAction =
  /** Code has it, the store has not. */
  | 'create'
  /** Both have it, and differ. */
  | 'update'
  /** A sync had paused it, and code has it again: it is resumed, and changed where it differs. */
  | 'take back'
  /** Code has it no longer: it is paused, and removed when `retention.orphans` have passed. */
  | 'orphan'
  /** Code has it no longer, and `removed` is `delete`. */
  | 'remove'
  /** Somebody paused it: so it stays, whether code has it or not. */
  | 'keep paused'

export interface SyncStep {
  readonly action: SyncAction
  /** `workspace/key`, for people. */
  readonly name: string
  readonly workspace: string
  readonly key: string
  /** Only what differs, in the words of `schedule()`; absent where there was nothing before, or nothing differs. */
  readonly before?: Partial<ScheduleInput>
  readonly after?: Partial<ScheduleInput>
  /** By whom and why it is paused, where it stays so. */
  readonly paused?: string
}

/** Who pauses what code no longer has; anybody else's pause is an operator's, and stays. */
export const SYNC = 'sync'

export interface SyncSight {
  /** What code declares. */
  readonly definitions: readonly ScheduleDefinition[]
  /** What is stored under the names that code declares, and whatever else this app put there. */
  readonly stored: readonly Schedule[]
  /** What becomes of schedules that code no longer has. */
  readonly removed: 'pause' | 'delete'
}

/** Schedules that stay as they are have no step. */
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

/** Both may contain a slash, but neither a line break. */
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

/** Most are, at every deploy, and words are for the others. */
const isSame = (one: ScheduleDefinition, other: ScheduleDefinition): boolean =>
  PARTS.every((part) => isDeepStrictEqual(one[part], other[part]))

function differences(before: ScheduleInput, after: ScheduleInput): Pick<SyncStep, 'before' | 'after'> | null {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof ScheduleInput>
  const differing = [...keys].filter((key) => canonical(before[key]) !== canonical(after[key]))
  const only = (words: ScheduleInput): Partial<ScheduleInput> =>
    Object.fromEntries(differing.filter((key) => words[key] !== undefined).map((key) => [key, words[key]]))
  return differing.length === 0 ? null : { before: only(before), after: only(after) }
}

/** A database may give back the keys of an object in another order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? ''
