/** `app.schedules.edit`: merges changes into the options of a stored definition; `schedule-writing.ts` writes the result. */
import { EverytickError, shown } from '../errors.ts'
import { type Job, readWork } from '../job.ts'
import { checkKeys, type Duration, type Instant, readBoolean, readInteger, refused } from '../options.ts'
import type { Fold, Gap } from '../schedule/clock-change.ts'
import type { Schedule, ScheduleDefinition } from '../schedule/schedule.ts'
import { readSchedule, type ScheduleDetails, type ScheduleOptions, scheduleName } from '../schedule-definition.ts'
import type { Executor } from '../store/contract/executor.ts'
import { type ChangeOptions, readBy } from './actor.ts'
import { type Core, readTx } from './core.ts'
import { definitionOf } from './definitions.ts'
import { type AnyRule, TIMING_KEYS } from './read-timing.ts'
import { toScheduleInput } from './schedule-input.ts'
import { conflict, putSchedules } from './schedule-writing.ts'

type Details = Omit<ScheduleDetails<Job | string>, 'key' | 'workspace'> & { readonly payload?: unknown }
/** A new rule replaces the old one; `timezone` and `dst` alone change the existing cron expression. */
interface Timings {
  readonly cron: string
  readonly every: Duration
  readonly at: Instant
  readonly any: readonly AnyRule[]
  readonly timezone: string
  readonly dst: { readonly gap?: Gap; readonly fold?: Fold }
}

type Named = Details & Timings

/** New values of options; null removes an option, so that its default applies again. Options that are absent stay. */
export type ScheduleChanges = { readonly [Key in keyof Named]?: Named[Key] | null }

export interface EditAnswer {
  readonly id: string
  readonly changed: boolean
  /** The revision after the change. */
  readonly revision: number
  readonly nextFireAt: Date | null
}

export interface EditOptions extends ChangeOptions {
  /** The revision that you read: throws REVISION_CONFLICT when it is not the newest any more. */
  readonly revision?: number
  /** Also changes a schedule that is declared in code, until its app syncs again. */
  readonly force?: boolean
}

const MAX_REVISION = 2 ** 31 - 1
const MAX_TRIES = 10
const RULES = ['cron', 'every', 'at', 'any']
const WORDS = [
  ...[...TIMING_KEYS, 'job', 'payload', 'queue', 'priority', 'timeout', 'retry', 'delivery', 'pauseOnFailure'],
  ...['overlap', 'jitter', 'maxRuns', 'concurrencyKey', 'catchUp', 'catchUpWindow', 'catchUpLimit'],
  ...['description', 'tags', 'metadata'],
]
/** Options that are merged field by field; all others are replaced. */
const MERGED = ['retry', 'dst']

interface Words {
  [option: string]: unknown
  retry?: unknown
  delivery?: unknown
}

/** The options that `schedule()` reads back as this definition. */
export function optionsOf(definition: ScheduleDefinition): Words {
  const { source: _, retry, ...words } = toScheduleInput(definition)
  const { attempts, ...pauses } = retry
  return {
    ...Object.fromEntries(Object.entries(words).filter(([, value]) => value !== null)),
    workspace: definition.workspace,
    key: definition.key,
    // `at_most_once` implies one attempt, so attempts are left out.
    retry: words.delivery === 'at_most_once' ? pauses : { attempts, ...pauses },
  }
}

/** Resolves once the change is stored; an error leaves everything unchanged. */
export async function editSchedule(
  core: Core,
  look: (tx: Executor | undefined) => Promise<Schedule>,
  { changes, options }: { readonly changes: ScheduleChanges; readonly options: EditOptions },
): Promise<EditAnswer> {
  checkKeys(options, ['revision', 'force', 'by', 'tx'], 'edit()')
  const [tx, by] = [readTx(options), readBy(core, options)]
  const force = readBoolean(options.force ?? false, 'force')
  const wanted = options.revision === undefined ? null : readInteger(options.revision, 'revision', [1, MAX_REVISION])
  for (let tries = 1; ; tries++) {
    const stored = await look(tx)
    if (wanted !== null && wanted !== stored.revision) throw conflict(stored, { seen: wanted, is: stored.revision })
    if (!force) refuseCode(stored)
    const definition = await edited(core, stored, changes)
    try {
      const { answers, nextFireAt } = await putSchedules(core, [definition], { tx, by, from: stored.revision })
      const { id, changed, revision } = answers[0]!
      return { id, changed, revision, nextFireAt: nextFireAt(0) }
    } catch (error) {
      // Another writer was faster: merge the changes into its definition, unless the caller named a revision.
      if (!isConflict(error) || wanted !== null || tx || tries === MAX_TRIES) throw error
    }
  }
}

const isConflict = (error: unknown): boolean => error instanceof EverytickError && error.code === 'REVISION_CONFLICT'

/** The next deploy would silently undo the edit. */
function refuseCode(stored: Schedule): void {
  if (stored.source === 'api') return
  throw refused(
    `${scheduleName(stored)} is declared in code (${stored.source}), and the next sync would undo the edit`,
    'change the code, or pass force: true',
  )
}

/** The definition after the changes, validated like a new one. */
async function edited(core: Core, stored: ScheduleDefinition, changes: ScheduleChanges): Promise<ScheduleDefinition> {
  checkKeys(changes, WORDS, `a change of ${scheduleName(stored)}`)
  const declared = readSchedule(laidOver(optionsOf(stored), changes as Words) as unknown as ScheduleOptions)
  const isHere = core.settings.jobs.has(typeof declared.job === 'string' ? declared.job : declared.job.name)
  if (isHere || changes.job !== undefined || changes.payload !== undefined) {
    return definitionOf(core, declared, stored.source)
  }
  // Another app has the job, and has validated the unchanged options.
  const { timing, firing, catchUp, about, work } = declared
  return { ...stored, timing, firing, catchUp, ...about, ...readWork(work, scheduleName(stored)) }
}

function laidOver(options: Words, changes: Words): Words {
  const words = { ...options }
  const rule = RULES.find((key) => (changes[key] ?? null) !== null)
  // A new rule replaces the old one, also of another kind.
  if (rule !== undefined) for (const key of rule === 'cron' ? RULES : [...RULES, 'timezone', 'dst']) delete words[key]
  if (changes.delivery === 'at_most_once' && typeof words.retry === 'object') {
    const { attempts: _, ...retry } = words.retry as Words
    words.retry = retry
  }
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) continue
    if (value === null) delete words[key]
    else words[key] = MERGED.includes(key) ? { ...(words[key] as Words), ...fields(value, key) } : value
  }
  return words
}

function fields(value: unknown, key: string): Words {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Words
  throw refused(`${key} must be an object, not ${shown(value)}`)
}
