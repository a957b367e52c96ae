/** Reads which queues a process works and under which limits; how many runs those allow is decided by `run/queue-limits.ts`. */
import type { QueueOptions } from '../engine/worker.ts'
import { shown } from '../errors.ts'
import { checkKeys, type Duration, readDuration, readInteger, readName, refused } from '../options.ts'
import type { QueueLimits } from '../run/queue-limits.ts'

/** How many runs of the queue this process works on at once, or that and what all processes together may do. */
export type QueueOption =
  | number
  | (LimitOptions & {
      /** In this process; the `concurrency` of the app when absent. */
      readonly concurrency?: number
      /** The share of attempts that may be retries, from 0 to 1. */
      readonly retryBudget?: number
    })

/** In all processes together. */
export interface LimitOptions {
  readonly globalConcurrency?: number
  /** For each workspace. */
  readonly perWorkspace?: number
  /** At most so many starts in any stretch so long. */
  readonly rateLimit?: { readonly limit: number; readonly per: Duration }
}

export const LIMIT_KEYS = ['globalConcurrency', 'perWorkspace', 'rateLimit']
const KEYS = ['concurrency', 'retryBudget', ...LIMIT_KEYS]
const DEFAULT_CONCURRENCY = 10
const MAX_CONCURRENCY = 10_000
const MAX_LIMIT = 1_000_000

/** How many runs of a queue one process works on at once, where the queue says nothing else. */
export const readConcurrency = (given: unknown): number =>
  readInteger(given ?? DEFAULT_CONCURRENCY, 'concurrency', [1, MAX_CONCURRENCY])

/** `named` answers the queues that jobs and schedules name, which are worked when nothing else was said. */
export function readQueues(
  queues: unknown,
  concurrency: number,
  named: () => readonly string[],
): Readonly<Record<string, QueueOptions>> {
  if (queues === undefined) {
    return frozen(['default', ...named()].map((name) => [name, readQueue(concurrency, name, concurrency)]))
  }
  if (typeof queues !== 'object' || queues === null || Array.isArray(queues)) {
    throw refused(`queues is an object from names to numbers, not ${shown(queues)}`, 'write it like { default: 10 }')
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
  throw refused(`${what} is a number from 0 to 1, not ${shown(value)}`, 'write 0.2 for a fifth')
}
