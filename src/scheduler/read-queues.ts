/** Reads which queues a process serves and their limits; `run/queue-limits.ts` applies the limits. */
import type { QueueOptions } from '../engine/worker.ts'
import { shown } from '../errors.ts'
import { checkKeys, type Duration, readDuration, readInteger, readName, refused } from '../options.ts'
import type { QueueLimits } from '../run/queue-limits.ts'

/** How many runs of the queue this process executes at once, or an object that also has the limits for all processes together. */
export type QueueOption =
  | number
  | (LimitOptions & {
      /** Runs at once in this process; the `concurrency` of the app when absent. */
      readonly concurrency?: number
      /** The fraction of attempts that may be retries, from 0 to 1. */
      readonly retryBudget?: number
    })

/** Limits for all processes together. */
export interface LimitOptions {
  readonly globalConcurrency?: number
  /** The most runs at once of each workspace. */
  readonly perWorkspace?: number
  /** At most `limit` starts in any time window of length `per`. */
  readonly rateLimit?: { readonly limit: number; readonly per: Duration }
}

export const LIMIT_KEYS = ['globalConcurrency', 'perWorkspace', 'rateLimit']
const KEYS = ['concurrency', 'retryBudget', ...LIMIT_KEYS]
const DEFAULT_CONCURRENCY = 10
const MAX_CONCURRENCY = 10_000
const MAX_LIMIT = 1_000_000

/** The default number of runs of a queue that one process executes at once. */
export const readConcurrency = (given: unknown): number =>
  readInteger(given ?? DEFAULT_CONCURRENCY, 'concurrency', [1, MAX_CONCURRENCY])

/** `named` returns the queues of jobs and schedules, which a process serves without the option `queues`. */
export function readQueues(
  queues: unknown,
  concurrency: number,
  named: () => readonly string[],
): Readonly<Record<string, QueueOptions>> {
  if (queues === undefined) {
    return frozen(['default', ...named()].map((name) => [name, readQueue(concurrency, name, concurrency)]))
  }
  if (typeof queues !== 'object' || queues === null || Array.isArray(queues)) {
    throw refused(
      `queues must be an object from names to numbers, not ${shown(queues)}`,
      'write it like { default: 10 }',
    )
  }
  return frozen(
    Object.entries(queues).map(([name, given]) => {
      const queue = readName(name, 'the name of a queue')
      return [queue, readQueue(given, queue, concurrency)]
    }),
  )
}

const frozen = (entries: readonly (readonly [string, QueueOptions])[]): Readonly<Record<string, QueueOptions>> =>
  Object.freeze(Object.fromEntries(entries))

function readQueue(given: unknown, name: string, fallback: number): QueueOptions {
  const of = `queue "${name}"`
  if (typeof given !== 'object' || given === null) {
    return Object.freeze({ concurrency: readInteger(given, of, [1, MAX_CONCURRENCY]), limits: {}, retryBudget: null })
  }
  checkKeys(given, KEYS, of)
  const { concurrency = fallback, retryBudget } = given as Exclude<QueueOption, number>
  return Object.freeze({
    concurrency: readInteger(concurrency, `${of}: concurrency`, [1, MAX_CONCURRENCY]),
    limits: readLimits(given, of),
    retryBudget: retryBudget === undefined ? null : readShare(retryBudget, `${of}: retryBudget`),
  })
}

export function readLimits(given: LimitOptions, of: string): QueueLimits {
  const { globalConcurrency, perWorkspace, rateLimit } = given
  const limit = (value: unknown, what: string): number => readInteger(value, `${of}: ${what}`, [1, MAX_LIMIT])
  if (rateLimit !== undefined) checkKeys(rateLimit, ['limit', 'per'], `${of}: rateLimit`)
  return Object.freeze({
    ...(globalConcurrency === undefined ? {} : { globalConcurrency: limit(globalConcurrency, 'globalConcurrency') }),
    ...(perWorkspace === undefined ? {} : { perWorkspace: limit(perWorkspace, 'perWorkspace') }),
    ...(rateLimit === undefined
      ? {}
      : {
          rateLimit: Object.freeze({
            count: limit(rateLimit.limit, 'rateLimit.limit'),
            perMs: readDuration(rateLimit.per, `${of}: rateLimit.per`, 1),
          }),
        }),
  })
}

function readShare(value: unknown, what: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  throw refused(`${what} must be a number from 0 to 1, not ${shown(value)}`, 'write 0.2 for 20 %')
}
