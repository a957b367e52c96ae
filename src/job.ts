/** Defines jobs: named work with a typed payload and its policies; when one runs is a schedule's or a caller's matter. */
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

/** Stands for the payload of a job that has no schema: such a job is run, enqueued and scheduled without one. */
export interface NoPayload {
  readonly '~none': never
}

type Types<Schema extends PayloadSchema> = NonNullable<Schema['~standard']['types']>
export type PayloadInput<Schema> = Schema extends PayloadSchema ? Types<Schema>['input'] : NoPayload
type RunArguments<Schema> = Schema extends PayloadSchema
  ? [payload: Types<Schema>['output'], ctx: JobContext]
  : [ctx: JobContext]

export interface RetryOptions {
  /** Attempts in all, the first included; 3 when absent. */
  readonly attempts?: number
  readonly backoff?: RetryPolicy['backoff']
  /** The bound of the first pause, which grows by doubling; `1s` when absent. */
  readonly base?: Duration
  /** No pause is longer; `1h` when absent. */
  readonly max?: Duration
}

/** What a job, a schedule and a single run can each say about how runs are executed. */
export interface WorkOptions {
  /** `default` when absent. */
  readonly queue?: string
  /** 0 to 9; a higher one is claimed first among those that are due; 5 when absent. */
  readonly priority?: number
  /** How long one attempt may take; `1h` when absent. `none`: as long as it holds its lease. */
  readonly timeout?: Duration | 'none'
  readonly retry?: RetryOptions
  /** `at_least_once` when absent. `at_most_once`: no retry, and what was lost on the way has failed. */
  readonly delivery?: Delivery
  /** Runs that share it, in one workspace, go one after another, whatever made them. */
  readonly concurrencyKey?: string
}

export type Delivery = 'at_least_once' | 'at_most_once'

export interface JobOptions<Schema extends PayloadSchema | undefined, Result> extends WorkOptions {
  readonly name: string
  /** Any Standard Schema; checked when a run is made and again when it is executed. Without one there is no payload. */
  readonly payload?: Schema
  /** Parts of the payload that the server shows nobody, such as `card.number` or `items.*.token`. */
  readonly redact?: readonly string[]
  run(...args: RunArguments<Schema>): Result | Promise<Result>
}

/** A job. Its types are on the value: what it takes and what it answers is inferred wherever the job is named. */
export interface Job<Input = unknown, Result = unknown> extends EngineJob {
  readonly queue: string
  readonly priority: number
  readonly policy: RunPolicy
  readonly concurrencyKey: string | null
  readonly schema: PayloadSchema | undefined
  readonly redact: readonly string[]
  /** For the compiler only; never there at run time. */
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
  if (typeof options.run !== 'function') throw refused(`${of}: run is a function, not ${shown(options.run)}`)
  const schema: PayloadSchema | undefined = options.payload
  if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
    throw refused(`${of}: payload is a Standard Schema, not ${shown(schema)}`, 'use zod, valibot, arktype or the like')
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

/** Null when there is none. */
export const readKey = (key: unknown, of: string): string | null =>
  key === undefined ? null : readStoredName(key, `${of}: concurrencyKey`)

export interface Work {
  readonly queue: string
  readonly priority: number
  readonly policy: RunPolicy
}

/** What a schedule can say besides about how its runs are executed. */
export interface ScheduledWork extends Omit<WorkOptions, 'concurrencyKey'> {
  /** After so many failed runs in a row the schedule is paused. */
  readonly pauseOnFailure?: number
}

const DEFAULT_POLICY: RunPolicy = Object.freeze({ retry: DEFAULT_RETRY, timeoutMs: DEFAULT_TIMEOUT_MS })

/** What was said here, over what the job says, over the defaults. */
export function readWork(options: ScheduledWork, of: string, job?: Work): Work {
  const { queue, priority, timeout, retry, delivery, pauseOnFailure } = options
  const above = job ? job.policy : DEFAULT_POLICY
  const timeoutMs = timeout === undefined ? above.timeoutMs : readTimeout(timeout, of)
  const once = readOnce(delivery, of, job)
  if (once && (retry?.attempts ?? 1) > 1) {
    throw refused(`${of}: at_most_once and ${retry!.attempts} attempts exclude each other`, 'leave out one of them')
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

/** Undefined where there is none. */
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
