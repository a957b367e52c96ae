/** Validates the options of a schedule and turns them into a definition; `scheduler/sync.ts` and `schedule-writing.ts` store it. */
import { didYouMean } from './did-you-mean.ts'
import { EverytickError, shown } from './errors.ts'
import {
  isJob,
  type Job,
  type NoPayload,
  readWork,
  type ScheduledWork,
  WORK_KEYS,
  type Work,
  type WorkOptions,
} from './job.ts'
import { type Json, toJsonText } from './json.ts'
import {
  checkKeys,
  type Duration,
  readChoice,
  readDuration,
  readInteger,
  readList,
  readName,
  readText,
  refused,
} from './options.ts'
import {
  type CatchUp,
  type CatchUpPolicy,
  type FiringPolicy,
  type ScheduleDefinition,
  seedOf,
  type TimingSpec,
} from './schedule/schedule.ts'
import { FIRING_KEYS, type FiringOptions, readFiring } from './scheduler/read-firing.ts'
import { type InitialPause, PAUSE_KEYS, type PauseOption, readInitialPause } from './scheduler/read-pause.ts'
import { type Bounds, readTiming, TIMING_KEYS, type When } from './scheduler/read-timing.ts'

/** The job's schema makes the payload required, optional or forbidden. */
export type PayloadField<J> =
  J extends Job<infer Input, unknown>
    ? [Input] extends [NoPayload]
      ? { readonly payload?: undefined }
      : undefined extends Input
        ? { readonly payload?: Input }
        : { readonly payload: Input }
    : { readonly payload?: unknown }

export interface ScheduleDetails<J extends Job | string> extends WorkOptions, FiringOptions, Bounds {
  /** Identifies the schedule within its workspace. */
  readonly key: string
  /** `default` when absent. */
  readonly workspace?: string
  /** A job, or the name of a job of this app. */
  readonly job: J
  /** Which occurrences to run after an outage, when no planner was running: `none`, `latest` or `all`; `latest` when absent. */
  readonly catchUp?: CatchUp
  /** Catch-up records older occurrences as missed; `24h` when absent. */
  readonly catchUpWindow?: Duration
  /** The most occurrences that `all` runs; 100 when absent. */
  readonly catchUpLimit?: number
  /** Everytick pauses the schedule after this many failed runs in a row. */
  readonly pauseOnFailure?: number
  /**
   * Creates the schedule paused: it does not fire until you resume it, or until `until`. It does not change a schedule that
   * already exists.
   */
  readonly paused?: PauseOption
  /** `false` is the same as `paused: true`. */
  readonly enabled?: boolean
  readonly description?: string
  readonly tags?: readonly string[]
  /** Any JSON, up to 4 KiB. */
  readonly metadata?: unknown
}

export type ScheduleOptions<J extends Job | string = Job | string> = ScheduleDetails<J> & When & PayloadField<J>

/** A validated schedule whose payload has not been checked against the job's schema yet. */
export interface DeclaredSchedule {
  readonly kind: 'schedule'
  readonly workspace: string
  readonly key: string
  readonly job: Job | string
  readonly payload: unknown
  readonly timing: TimingSpec
  readonly catchUp: CatchUpPolicy
  /** Without the defaults of the job: its concurrency key applies when this one is null. */
  readonly firing: FiringPolicy
  readonly work: ScheduledWork
  /** The initial pause of a new schedule; null: active. */
  readonly pause: InitialPause | null
  readonly about: Pick<ScheduleDefinition, 'description' | 'tags' | 'metadata'>
}

const SCHEDULED_WORK = [...WORK_KEYS.filter((key) => key !== 'concurrencyKey'), 'pauseOnFailure'] as const
const KEYS = [
  ...['key', 'workspace', ...TIMING_KEYS, 'job', 'payload', ...SCHEDULED_WORK, ...FIRING_KEYS],
  ...['catchUp', 'catchUpWindow', 'catchUpLimit', ...PAUSE_KEYS, 'description', 'tags', 'metadata'],
]
const MAX_METADATA_BYTES = 4096
const MAX_DESCRIPTION = 2000
const MAX_TAGS = 50

/** Declares a schedule in code. The app that lists it stores it when it starts. */
export function schedule<J extends Job | string>(options: ScheduleOptions<J>): DeclaredSchedule {
  return readSchedule(options as ScheduleOptions)
}

export function readSchedule(options: ScheduleOptions): DeclaredSchedule {
  checkKeys(options, KEYS, 'a schedule')
  const key = readName(options.key, 'the key of a schedule')
  const workspace = options.workspace === undefined ? 'default' : readName(options.workspace, 'workspace')
  const of = scheduleName({ workspace, key })
  const { job } = options
  if (!isJob(job) && typeof job !== 'string') {
    throw refused(`${of}: job must be a job or the name of one, not ${shown(job)}`, 'define a job with defineJob()')
  }
  const said = SCHEDULED_WORK.filter((name) => options[name] !== undefined)
  const work: ScheduledWork =
    said.length === 0 ? NO_WORDS : Object.freeze(Object.fromEntries(said.map((name) => [name, options[name]])))
  // Validated now to fail early, and read again once the job is known, whose values are the defaults.
  if (work !== NO_WORDS) readWork(work, of, isJob(job) ? job : undefined)
  const timing = readTiming(options, of, seedOf({ workspace, key }))
  return Object.freeze({
    kind: 'schedule',
    workspace,
    key,
    job,
    payload: options.payload,
    timing,
    catchUp: readCatchUp(options, of),
    firing: readFiring(options, of, timing),
    work,
    pause: readInitialPause(options, of),
    about: readAbout(options, of),
  })
}

export const scheduleName = ({ workspace, key }: { workspace: string; key: string }): string =>
  workspace === 'default' ? `schedule "${key}"` : `schedule "${key}" (${workspace})`

/*
 * All schedules without options of their own share one object, so that it is created, validated and serialized once and not
 * a thousand times.
 */
const NO_WORDS: ScheduledWork = Object.freeze({})
const inherited = new WeakMap<Job, Work>()

/** The execution options of the schedule, over those of its job. */
export function workOf(declared: Pick<DeclaredSchedule, 'workspace' | 'key' | 'work'>, job: Job): Work {
  if (declared.work !== NO_WORDS) return readWork(declared.work, scheduleName(declared), job)
  const work = inherited.get(job) ?? readWork(NO_WORDS, '', job)
  inherited.set(job, work)
  return work
}

const CATCH_UP: CatchUpPolicy = Object.freeze({ catchUp: 'latest', windowMs: 86_400_000, limit: 100 })

function readCatchUp({ catchUp, catchUpWindow, catchUpLimit }: ScheduleOptions, of: string): CatchUpPolicy {
  if (catchUp === undefined && catchUpWindow === undefined && catchUpLimit === undefined) return CATCH_UP
  return Object.freeze({
    catchUp: readChoice(catchUp ?? 'latest', `${of}: catchUp`, ['none', 'latest', 'all']),
    windowMs: readDuration(catchUpWindow ?? '24h', `${of}: catchUpWindow`),
    limit: readInteger(catchUpLimit ?? 100, `${of}: catchUpLimit`, [1, 1_000_000]),
  })
}

const NO_ABOUT: DeclaredSchedule['about'] = Object.freeze({ description: '', tags: Object.freeze([]), metadata: null })

function readAbout({ description, tags, metadata }: ScheduleOptions, of: string): DeclaredSchedule['about'] {
  if (description === undefined && tags === undefined && metadata === undefined) return NO_ABOUT
  const names = readList(tags ?? [], `${of}: tags`, [0, MAX_TAGS])
  return Object.freeze({
    description: readText(description ?? '', `${of}: description`, MAX_DESCRIPTION),
    tags: Object.freeze([...new Set(names.map((tag) => readName(tag, `${of}: a tag`)))]),
    metadata: JSON.parse(
      toJsonText(metadata ?? null, { what: `${of}: metadata`, maxBytes: MAX_METADATA_BYTES }),
    ) as Json,
  })
}

/** Returns the job of that name; throws when this app does not have it. */
export function jobOf(job: Job | string, jobs: ReadonlyMap<string, Job>, where: string): Job {
  const name = typeof job === 'string' ? job : job.name
  const known = jobs.get(name)
  if (known) return typeof job === 'string' ? known : job
  const near = didYouMean(name, [...jobs.keys()])
  throw new EverytickError('JOB_UNKNOWN', `${where}: this app has no job ${shown(name)}`, {
    hint: near ? `did you mean ${near}?` : 'add it to the option jobs',
  })
}
