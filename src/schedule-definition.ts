/** Turns what a user writes as a schedule into a definition that can be stored; storing and syncing it is decided elsewhere. */
import { didYouMean } from './did-you-mean.ts'
import { EverytickError, shown } from './errors.ts'
import { isJob, type Job, type NoPayload, readWork, type WorkOptions } from './job.ts'
import { type Json, toJsonText } from './json.ts'
import {
  checkKeys,
  type Duration,
  type Instant,
  readChoice,
  readDuration,
  readInstantOption,
  readInteger,
  readName,
  readText,
  refused,
} from './options.ts'
import type { Fold, Gap } from './schedule/clock-change.ts'
import { parseCron } from './schedule/cron.ts'
import { every as interval } from './schedule/interval.ts'
import {
  type CatchUp,
  type CatchUpPolicy,
  type ScheduleDefinition,
  seedOf,
  type TimingSpec,
} from './schedule/schedule.ts'
import { formatDuration } from './time/duration.ts'

/** Exactly one of the three. */
export type When =
  | {
      readonly cron: string
      /** An IANA name; UTC when absent. */
      readonly timezone?: string
      readonly dst?: { readonly gap?: Gap; readonly fold?: Fold }
      readonly every?: undefined
      readonly at?: undefined
    }
  | { readonly every: Duration; readonly cron?: undefined; readonly at?: undefined }
  | { readonly at: Instant; readonly cron?: undefined; readonly every?: undefined }

/** The payload is required, optional or forbidden, as the job's schema says. */
export type PayloadField<J> =
  J extends Job<infer Input, unknown>
    ? [Input] extends [NoPayload]
      ? { readonly payload?: undefined }
      : undefined extends Input
        ? { readonly payload?: Input }
        : { readonly payload: Input }
    : { readonly payload?: unknown }

export interface ScheduleDetails<J extends Job | string> extends WorkOptions {
  /** With the workspace, what the schedule is known by. */
  readonly key: string
  /** `default` when absent. */
  readonly workspace?: string
  /** A job, or the name of one that this app has. */
  readonly job: J
  /** What becomes of occurrences that passed while nobody planned; `latest` when absent. */
  readonly catchUp?: CatchUp
  /** Occurrences older than this are missed; `24h` when absent. */
  readonly catchUpWindow?: Duration
  /** With `all`: how many at most; 100 when absent. */
  readonly catchUpLimit?: number
  readonly description?: string
  readonly tags?: readonly string[]
  /** Free JSON up to 4 KiB. */
  readonly metadata?: unknown
}

export type ScheduleOptions<J extends Job | string = Job | string> = ScheduleDetails<J> & When & PayloadField<J>

/** A schedule that was read and found well formed, but whose payload no schema has seen yet. */
export interface DeclaredSchedule {
  readonly kind: 'schedule'
  readonly workspace: string
  readonly key: string
  readonly job: Job | string
  readonly payload: unknown
  readonly timing: TimingSpec
  readonly catchUp: CatchUpPolicy
  readonly work: WorkOptions
  readonly about: Pick<ScheduleDefinition, 'description' | 'tags' | 'metadata'>
}

const KEYS = [
  ...['key', 'workspace', 'cron', 'every', 'at', 'timezone', 'dst', 'job', 'payload', 'queue', 'priority', 'timeout'],
  ...['retry', 'catchUp', 'catchUpWindow', 'catchUpLimit', 'description', 'tags', 'metadata'],
]
const MAX_METADATA_BYTES = 4096
const MAX_DESCRIPTION = 2000
const MAX_TAGS = 50

/** Declares a schedule in code. It is stored when the app that lists it starts. */
export function schedule<J extends Job | string>(options: ScheduleOptions<J>): DeclaredSchedule {
  return readSchedule(options as ScheduleOptions)
}

export function readSchedule(options: ScheduleOptions): DeclaredSchedule {
  checkKeys(options, KEYS, 'a schedule')
  const key = readName(options.key, 'the key of a schedule')
  const workspace = options.workspace === undefined ? 'default' : readName(options.workspace, 'workspace')
  const of = scheduleName({ workspace, key })
  const { job, queue, priority, timeout, retry } = options
  if (!isJob(job) && typeof job !== 'string') {
    throw refused(`${of}: job is a job or the name of one, not ${shown(job)}`, 'make one with defineJob')
  }
  const work: WorkOptions = {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(retry === undefined ? {} : { retry }),
  }
  // Read now for its refusals; read again when the job is known, whose values stand behind these.
  readWork(work, of)
  return Object.freeze({
    kind: 'schedule',
    workspace,
    key,
    job,
    payload: options.payload,
    timing: readTiming(options, of, seedOf({ workspace, key })),
    catchUp: readCatchUp(options, of),
    work,
    about: readAbout(options, of),
  })
}

export const scheduleName = ({ workspace, key }: { workspace: string; key: string }): string =>
  workspace === 'default' ? `schedule "${key}"` : `schedule "${key}" (${workspace})`

function readTiming(options: ScheduleOptions, of: string, seed: string): TimingSpec {
  const { cron, every, at } = options
  const { timezone, dst } = options as { timezone?: string; dst?: { gap?: Gap; fold?: Fold } }
  const given = [cron, every, at].filter((value) => value !== undefined).length
  if (given !== 1) throw refused(`${of} has ${given} of cron, every and at`, 'give exactly one of them')
  if (cron !== undefined) {
    const rules = { ...(timezone === undefined ? {} : { timezone }), ...(dst === undefined ? {} : { dst: { ...dst } }) }
    try {
      const { timezone: zone } = parseCron(cron, { seed, ...rules })
      return { kind: 'cron', cron, ...rules, timezone: zone }
    } catch (cause) {
      throw named(cause, of)
    }
  }
  if (timezone !== undefined || dst !== undefined) {
    throw refused(
      `${of}: timezone and dst belong to cron`,
      'an interval and a single instant are the same in every zone',
    )
  }
  if (every === undefined) return { kind: 'once', at: readInstantOption(at, `${of}: at`) }
  const { intervalMs, anchorAt } = interval(formatDuration(readDuration(every, `${of}: every`)))
  return { kind: 'interval', everyMs: intervalMs, anchorAt }
}

/** The same refusal, with the schedule it is about: one file may declare many. */
function named(cause: unknown, of: string): unknown {
  if (!(cause instanceof EverytickError)) return cause
  const { code, message, hint, source, span } = cause
  return new EverytickError(code, `${of}: ${message}`, {
    cause,
    ...(hint === undefined ? {} : { hint }),
    ...(source === undefined ? {} : { source }),
    ...(span === undefined ? {} : { span }),
  })
}

function readCatchUp({ catchUp, catchUpWindow, catchUpLimit }: ScheduleOptions, of: string): CatchUpPolicy {
  return Object.freeze({
    catchUp: readChoice(catchUp ?? 'latest', `${of}: catchUp`, ['none', 'latest', 'all']),
    windowMs: readDuration(catchUpWindow ?? '24h', `${of}: catchUpWindow`),
    limit: readInteger(catchUpLimit ?? 100, `${of}: catchUpLimit`, [1, 1_000_000]),
  })
}

function readAbout({ description, tags, metadata }: ScheduleOptions, of: string): DeclaredSchedule['about'] {
  if (tags !== undefined && (!Array.isArray(tags) || tags.length > MAX_TAGS)) {
    throw refused(`${of}: tags are a list of at most ${MAX_TAGS} names`)
  }
  return Object.freeze({
    description: readText(description ?? '', `${of}: description`, MAX_DESCRIPTION),
    tags: Object.freeze([...new Set((tags ?? []).map((tag) => readName(tag, `${of}: a tag`)))]),
    metadata: JSON.parse(
      toJsonText(metadata ?? null, { what: `${of}: metadata`, maxBytes: MAX_METADATA_BYTES }),
    ) as Json,
  })
}

/** The job that is meant, if this app has it. */
export function jobOf(job: Job | string, jobs: ReadonlyMap<string, Job>, where: string): Job {
  const name = typeof job === 'string' ? job : job.name
  const known = jobs.get(name)
  if (known) return typeof job === 'string' ? known : job
  const near = didYouMean(name, [...jobs.keys()])
  throw new EverytickError('JOB_UNKNOWN', `${where}: job ${shown(name)} is not among the jobs of this app`, {
    hint: near ? `did you mean ${near}?` : 'list it in jobs',
  })
}
