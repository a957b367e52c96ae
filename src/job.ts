/** Defines jobs: named functions with a typed payload and policies; schedules and callers decide when they run. */
import type { EngineJob } from './engine/attempt.ts'
import type { JobContext } from './engine/context.ts'
import { shown } from './errors.ts'
import {
  checkKeys,
  type Duration,
  readChoice,
  readDuration,
  readInteger,
  readList,
  readName,
  readStoredName,
  refused,
} from './options.ts'
import { DEFAULT_RETRY, type RetryPolicy } from './run/retry.ts'
import type { RunPolicy } from './run/run.ts'
import { DEFAULT_TIMEOUT_MS, NO_TIMEOUT } from './run/timeout.ts'
import { type PayloadSchema, parsePayload } from './scheduler/payload.ts'

/** The payload type of a job without a schema: it runs, is enqueued and is scheduled without a payload. */
export interface NoPayload {
  readonly '~none': never
}

type Types<Schema extends PayloadSchema> = NonNullable<Schema['~standard']['types']>
export type PayloadInput<Schema> = Schema extends PayloadSchema ? Types<Schema>['input'] : NoPayload
type RunArguments<Schema> = Schema extends PayloadSchema
  ? [payload: Types<Schema>['output'], ctx: JobContext]
  : [ctx: JobContext]

export interface RetryOptions {
  /** Total attempts, including the first; 3 when absent. */
  readonly attempts?: number
  readonly backoff?: RetryPolicy['backoff']
  /** The upper bound of the first retry delay, which doubles with every attempt; `1s` when absent. */
  readonly base?: Duration
  /** The longest retry delay; `1h` when absent. */
  readonly max?: Duration
}

/** Options for executing runs, which a job, a schedule and a single run can each set. */
export interface WorkOptions {
  /** `default` when absent. */
  readonly queue?: string
  /** 0 to 9; workers claim due runs with a higher priority first; 5 when absent. */
  readonly priority?: number
  /** How long one attempt may take; `1h` when absent. `none`: no limit while the worker renews the lease. */
  readonly timeout?: Duration | 'none'
  readonly retry?: RetryOptions
  /** `at_least_once` when absent. `at_most_once`: never retried; a run whose worker is lost fails. */
  readonly delivery?: Delivery
  /** Runs of one workspace with the same key run one at a time, whatever created them. */
  readonly concurrencyKey?: string
}

export type Delivery = 'at_least_once' | 'at_most_once'

export interface JobOptions<Schema extends PayloadSchema | undefined, Result> extends WorkOptions {
  readonly name: string
  /** Any Standard Schema; validates the payload when a run is created and again when it is executed. Without one, a run has no payload. */
  readonly payload?: Schema
  /** Paths of the payload that the server hides from everyone, such as `card.number` or `items.*.token`. */
  readonly redact?: readonly string[]
  run(...args: RunArguments<Schema>): Result | Promise<Result>
}

/** A job. TypeScript infers its payload and result types wherever you pass the job. */
export interface Job<Input = unknown, Result = unknown> extends EngineJob {
  readonly queue: string
  readonly priority: number
  readonly policy: RunPolicy
  readonly concurrencyKey: string | null
  readonly schema: PayloadSchema | undefined
  readonly redact: readonly string[]
  /** For the compiler only; absent at run time. */
  readonly '~types'?: { readonly input: Input; readonly result: Result }
}

const jobs = new WeakSet<object>()
export const WORK_KEYS = ['queue', 'priority', 'timeout', 'retry', 'delivery', 'concurrencyKey'] as const
const JOB_KEYS = ['name', 'payload', 'redact', 'run', ...WORK_KEYS]
const MAX_REDACTED = 100

export function defineJob<Result, Schema extends PayloadSchema | undefined = undefined>(
  options: JobOptions<Schema, Result>,
): Job<PayloadInput<Schema>, Result> {
  checkKeys(options, JOB_KEYS, 'a job')
  const name = readName(options.name, 'the name of a job')
  const of = `job "${name}"`
  if (typeof options.run !== 'function') throw refused(`${of}: run must be a function, not ${shown(options.run)}`)
  const schema: PayloadSchema | undefined = options.payload
  if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
    throw refused(
      `${of}: payload must be a Standard Schema, not ${shown(schema)}`,
      'use zod, valibot, arktype or another library with Standard Schema',
    )
  }
  const handler = options.run.bind(options) as (...args: unknown[]) => unknown
  const job: Job<PayloadInput<Schema>, Result> = {
    name,
    schema,
    ...readWork(options, of),
    concurrencyKey: readKey(options.concurrencyKey, of),
    redact: Object.freeze(
      readList(options.redact ?? [], `${of}: redact`, [0, MAX_REDACTED]).map((path) => readName(path, `${of}: a path`)),
    ),
    parse: (stored) => (schema ? parsePayload(schema, stored, of) : undefined),
    run: (payload, ctx) => (schema ? handler(payload, ctx) : handler(ctx)),
  }
  jobs.add(Object.freeze(job))
  return job
}

export const isJob = (value: unknown): value is Job => typeof value === 'object' && value !== null && jobs.has(value)

/** Null without a key. */
export const readKey = (key: unknown, of: string): string | null =>
  key === undefined ? null : readStoredName(key, `${of}: concurrencyKey`)

export interface Work {
  readonly queue: string
  readonly priority: number
  readonly policy: RunPolicy
}

/** The execution options of a schedule. */
export interface ScheduledWork extends Omit<WorkOptions, 'concurrencyKey'> {
  /** Everytick pauses the schedule after this many failed runs in a row. */
  readonly pauseOnFailure?: number
}

const DEFAULT_POLICY: RunPolicy = Object.freeze({ retry: DEFAULT_RETRY, timeoutMs: DEFAULT_TIMEOUT_MS })

/** The given options override those of the job, which override the defaults. */
export function readWork(options: ScheduledWork, of: string, job?: Work): Work {
  const { queue, priority, timeout, retry, delivery, pauseOnFailure } = options
  const above = job ? job.policy : DEFAULT_POLICY
  const timeoutMs = timeout === undefined ? above.timeoutMs : readTimeout(timeout, of)
  const once = readOnce(delivery, of, job)
  if (once && (retry?.attempts ?? 1) > 1) {
    throw refused(
      `${of}: delivery at_most_once allows one attempt, and retry.attempts is ${retry!.attempts}`,
      'remove one of the two options',
    )
  }
  const asked = readRetry(retry ?? {}, of, above.delivery === undefined ? above.retry : DEFAULT_RETRY)
  return {
    queue: queue === undefined ? (job?.queue ?? 'default') : readName(queue, `${of}: queue`),
    priority: priority === undefined ? (job?.priority ?? 5) : readInteger(priority, `${of}: priority`, [0, 9]),
    policy: Object.freeze({
      retry: once ? Object.freeze({ ...asked, attempts: 1 }) : asked,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(once ? { delivery: 'at_most_once' as const } : {}),
      ...(pauseOnFailure === undefined
        ? {}
        : { pauseOnFailure: readInteger(pauseOnFailure, `${of}: pauseOnFailure`, [1, 1000]) }),
    }),
  }
}

/** Undefined for `none`. */
export const readTimeout = (timeout: unknown, of: string): number | undefined =>
  timeout === NO_TIMEOUT ? undefined : readDuration(timeout, `${of}: timeout`, 1)

function readOnce(delivery: unknown, of: string, job?: Work): boolean {
  if (delivery === undefined) return job?.policy.delivery === 'at_most_once'
  return readChoice(delivery, `${of}: delivery`, ['at_least_once', 'at_most_once']) === 'at_most_once'
}

function readRetry(retry: RetryOptions, of: string, above: RetryPolicy): RetryPolicy {
  checkKeys(retry, ['attempts', 'backoff', 'base', 'max'], `${of}: retry`)
  const { attempts, backoff, base, max } = retry
  return Object.freeze({
    attempts: attempts === undefined ? above.attempts : readInteger(attempts, `${of}: retry.attempts`, [1, 1000]),
    backoff:
      backoff === undefined ? above.backoff : readChoice(backoff, `${of}: retry.backoff`, ['exponential', 'fixed']),
    baseMs: base === undefined ? above.baseMs : readDuration(base, `${of}: retry.base`),
    maxMs: max === undefined ? above.maxMs : readDuration(max, `${of}: retry.max`),
  })
}
