/** Reads the options of `everytick()`: normalises, fills in defaults, refuses what cannot be, and freezes the rest. */
import { EverytickError, shown } from '../errors.ts'
import { isJob, type Job } from '../job.ts'
import type { Logger } from '../observe/logger.ts'
import { checkStore, type StoreOption } from '../open-store.ts'
import { checkKeys, type Duration, readBoolean, readDuration, readInteger, readName, refused } from '../options.ts'
import { type DeclaredSchedule, jobOf, scheduleName } from '../schedule-definition.ts'
import type { Retention } from '../store/contract/upkeep.ts'
import { consoleLogger } from './logging.ts'

export interface EverytickOptions {
  /** `sqlite:./everytick.db`, `sqlite::memory:`, `postgres://…`, or a store that was opened elsewhere. */
  readonly store: StoreOption
  readonly jobs: readonly Job[]
  /** Declared with `schedule()`; stored when the app starts. */
  readonly schedules?: readonly DeclaredSchedule[]
  /** How many runs of each queue this process works on at once; 10 of every queue its jobs name when absent. */
  readonly queues?: Readonly<Record<string, number>>
  /** Tells apps that share a store apart: an app looks after the schedules of its own name only. */
  readonly name?: string
  readonly logger?: Logger
  /** How long a worker may be silent before its runs are given to others; `15s` when absent. */
  readonly lease?: Duration
  /** How far ahead of time runs are planned; `10s` when absent. */
  readonly lookahead?: Duration
  readonly retention?: RetentionOptions
  /** Whether the database is brought up to date when it is opened; true when absent. */
  readonly migrate?: boolean
}

export interface RetentionOptions {
  /** Finished runs; `30d` when absent. */
  readonly history?: Duration
  /** The journal, and records of occurrences that did not run; `30d` when absent. */
  readonly journal?: Duration
  /** How long an idempotency key is remembered; `24h` when absent. */
  readonly idempotency?: Duration
}

export interface Settings {
  readonly store: StoreOption
  readonly jobs: ReadonlyMap<string, Job>
  readonly schedules: readonly DeclaredSchedule[]
  readonly queues: Readonly<Record<string, number>>
  readonly name: string
  readonly logger: Logger
  readonly leaseMs: number
  readonly lookaheadMs: number
  readonly retention: Retention
  readonly migrate: boolean
}

const KEYS = 'store jobs schedules queues name logger lease lookahead retention migrate'.split(' ')
const DEFAULT_CONCURRENCY = 10
const WORKERS_MS = 3_600_000

export function readSettings(options: EverytickOptions): Settings {
  checkKeys(options, KEYS, 'everytick()')
  const jobs = readJobs(options.jobs)
  const schedules = readSchedules(options.schedules ?? [], jobs)
  return Object.freeze({
    store: checkStore(options.store),
    jobs,
    schedules,
    queues: readQueues(options.queues, jobs, schedules),
    name: options.name === undefined ? '' : readName(options.name, 'name'),
    logger: readLogger(options.logger ?? consoleLogger),
    // A lease is renewed at a third of its length, and a garbage collection must fit between two renewals.
    leaseMs: readDuration(options.lease ?? '15s', 'lease', 1000),
    lookaheadMs: readDuration(options.lookahead ?? '10s', 'lookahead'),
    retention: readRetention(options.retention ?? {}),
    migrate: readBoolean(options.migrate ?? true, 'migrate'),
  })
}

function readJobs(jobs: unknown): ReadonlyMap<string, Job> {
  if (!Array.isArray(jobs)) throw refused(`jobs is a list, not ${shown(jobs)}`)
  const known = new Map<string, Job>()
  for (const job of jobs) {
    if (!isJob(job)) throw refused(`jobs contains ${shown(job)}`, 'make each with defineJob')
    if (known.has(job.name)) {
      throw new EverytickError('JOB_DUPLICATE', `two jobs are named "${job.name}"`, { hint: 'rename one of them' })
    }
    known.set(job.name, job)
  }
  return known
}

function readSchedules(schedules: unknown, jobs: ReadonlyMap<string, Job>): readonly DeclaredSchedule[] {
  if (!Array.isArray(schedules)) throw refused(`schedules is a list, not ${shown(schedules)}`)
  for (const each of schedules) {
    if (each?.kind !== 'schedule') throw refused(`schedules contains ${shown(each)}`, 'make each with schedule()')
    jobOf(each.job, jobs, scheduleName(each))
  }
  refuseTwins(schedules)
  return Object.freeze([...schedules])
}

/** The second of two would silently undo the first. */
export function refuseTwins(schedules: readonly { readonly workspace: string; readonly key: string }[]): void {
  const seen = new Set<string>()
  for (const each of schedules) {
    const name = `${each.workspace}\n${each.key}`
    if (seen.has(name)) throw new EverytickError('DUPLICATE_KEY', `${scheduleName(each)} stands there twice`)
    seen.add(name)
  }
}

function readQueues(
  queues: Readonly<Record<string, number>> | undefined,
  jobs: ReadonlyMap<string, Job>,
  schedules: readonly DeclaredSchedule[],
): Readonly<Record<string, number>> {
  if (queues === undefined) {
    const named = [
      'default',
      ...[...jobs.values()].map(({ queue }) => queue),
      ...schedules.map(({ work }) => work.queue),
    ]
    return Object.freeze(Object.fromEntries(named.map((queue) => [queue ?? 'default', DEFAULT_CONCURRENCY])))
  }
  if (typeof queues !== 'object' || queues === null) {
    throw refused(`queues is an object from names to numbers, not ${shown(queues)}`, 'write it like { default: 10 }')
  }
  const read = Object.entries(queues).map(([name, size]) => {
    const queue = readName(name, 'the name of a queue')
    return [queue, readInteger(size, `queue "${queue}"`, [1, 10_000])]
  })
  return Object.freeze(Object.fromEntries(read))
}

function readLogger(logger: Logger): Logger {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    if (typeof logger?.[level] !== 'function') throw refused(`logger has no function ${level}`)
  }
  return logger
}

function readRetention(retention: RetentionOptions): Retention {
  checkKeys(retention, ['history', 'journal', 'idempotency'], 'retention')
  const { history = '30d', journal = '30d', idempotency = '24h' } = retention
  return Object.freeze({
    historyMs: readDuration(history, 'retention.history'),
    journalMs: readDuration(journal, 'retention.journal'),
    idempotencyMs: readDuration(idempotency, 'retention.idempotency'),
    workersMs: WORKERS_MS,
  })
}
