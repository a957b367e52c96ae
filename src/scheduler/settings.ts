/** Reads the options of `everytick()`: validates them, fills in defaults and freezes the result. */
import type { QueueOptions } from '../engine/worker.ts'
import { EverytickError, shown } from '../errors.ts'
import { isJob, type Job } from '../job.ts'
import type { Logger } from '../observe/logger.ts'
import { checkStore, type StoreOption } from '../open-store.ts'
import {
  checkKeys,
  type Duration,
  type Instant,
  readBoolean,
  readChoice,
  readDuration,
  readInstantOption,
  readInteger,
  readName,
  refused,
} from '../options.ts'
import {
  type DeclaredSchedule,
  jobOf,
  readSchedule,
  type ScheduleOptions,
  scheduleName,
} from '../schedule-definition.ts'
import type { Retention } from '../store/contract/upkeep.ts'
import type { QuotaSettings } from '../workspace/quotas.ts'
import { ForeignJobs } from './foreign-jobs.ts'
import { consoleLogger, safeLogger } from './loggers.ts'
import { type QueueOption, readConcurrency, readQueues } from './read-queues.ts'
import { type QuotasOption, readQuotas } from './read-quotas.ts'

export interface EverytickOptions {
  /** `sqlite:./everytick.db`, `sqlite::memory:`, `postgres://…`, or an open store. */
  readonly store: StoreOption
  readonly jobs: readonly Job[]
  /** Schedules from `schedule()`, or the plain options it takes; the app stores them when it starts. */
  readonly schedules?: readonly (DeclaredSchedule | ScheduleOptions)[]
  /**
   * The queues this process serves, each with the number of runs it executes at once, or with limits. When absent, it serves
   * every queue of its jobs and schedules, with `concurrency` runs each.
   */
  readonly queues?: Readonly<Record<string, QueueOption>>
  /** How many runs of each queue this process executes at once, unless `queues` gives a number; 10 when absent. */
  readonly concurrency?: number
  /** Distinguishes apps that share a store: an app only syncs the schedules declared under its own name. */
  readonly name?: string
  readonly logger?: Logger
  /** How long a worker may fail to renew its leases before other workers take its runs; `9s` when absent. */
  readonly lease?: Duration
  /** How far ahead the planner creates runs; `10s` when absent. */
  readonly lookahead?: Duration
  readonly retention?: RetentionOptions
  /** `leader` when absent: one process plans at a time, and the others are on standby. `sharded`: processes share the schedules. `all`: every process plans. */
  readonly planner?: { readonly mode?: PlannerMode }
  /** The build's position in the order of builds, as a whole number or an instant: an older build never undoes the sync of a newer one. */
  readonly build?: number | Instant
  /** What a sync does with schedules that are no longer in code; `pause` when absent. */
  readonly removed?: 'pause' | 'delete'
  /** Whether opening the store migrates the database; true when absent. */
  readonly migrate?: boolean
  /** Whether schedules and runs may use jobs that only other processes have; their payloads are then not validated here. False when absent. */
  readonly foreignJobs?: boolean
  /**
   * The limits of each workspace, for every caller. When absent, only API keys bound to a workspace have quotas, the defaults of
   * `docs/operate/quotas.md`.
   */
  readonly quotas?: QuotasOption
}

export type PlannerMode = 'leader' | 'sharded' | 'all'

export interface RetentionOptions {
  /** Finished runs; `30d` when absent. */
  readonly history?: Duration
  /** The journal, and records of occurrences that did not run; `30d` when absent. */
  readonly journal?: Duration
  /** How long an idempotency key is remembered; `24h` when absent. */
  readonly idempotency?: Duration
  /** How long a schedule that is no longer in code stays paused before it is deleted; `7d` when absent. */
  readonly orphans?: Duration
  /** How long a schedule without further occurrences is kept, or `off`; `30d` when absent. */
  readonly endedSchedules?: Duration | 'off'
}

export interface Settings {
  readonly store: StoreOption
  /** The jobs that schedules and runs may use. */
  readonly jobs: ReadonlyMap<string, Job>
  /** The jobs that this process can execute. */
  readonly ownJobs: ReadonlyMap<string, Job>
  readonly schedules: readonly DeclaredSchedule[]
  readonly queues: Readonly<Record<string, QueueOptions>>
  readonly name: string
  readonly logger: Logger
  /** Whether events of normal operation are logged: only with a custom logger, not on the default console. */
  readonly logsRoutine: boolean
  readonly leaseMs: number
  readonly lookaheadMs: number
  readonly retention: Retention
  readonly planner: { readonly mode: PlannerMode }
  readonly build: number | null
  readonly removed: 'pause' | 'delete'
  readonly migrate: boolean
  /** Null: only bound keys have quotas. */
  readonly quotas: QuotaSettings | null
}

const KEYS =
  'store jobs schedules queues concurrency name logger lease lookahead retention planner build removed migrate foreignJobs quotas'.split(
    ' ',
  )
const WORKERS_MS = 3_600_000

/** Checks option names; the CLI also calls it for configuration files. */
export const checkOptionNames = (options: object): void => checkKeys(options, KEYS, 'everytick()')

export function readSettings(options: EverytickOptions): Settings {
  checkOptionNames(options)
  const ownJobs = readJobs(options.jobs)
  const jobs = readBoolean(options.foreignJobs ?? false, 'foreignJobs') ? new ForeignJobs(ownJobs) : ownJobs
  const schedules = readSchedules(options.schedules ?? [], jobs)
  return Object.freeze({
    store: checkStore(options.store),
    jobs,
    ownJobs,
    schedules,
    queues: readQueues(options.queues, readConcurrency(options.concurrency), () => [
      ...[...jobs.values()].map(({ queue }) => queue),
      ...schedules.map(({ work }) => work.queue ?? 'default'),
    ]),
    name: options.name === undefined ? '' : readName(options.name, 'name'),
    logger: readLogger(options.logger ?? consoleLogger),
    logsRoutine: options.logger !== undefined,
    // A lease is renewed at five ninths of its length, and a garbage collection must fit between two renewals.
    leaseMs: readDuration(options.lease ?? '9s', 'lease', 1000),
    lookaheadMs: readDuration(options.lookahead ?? '10s', 'lookahead'),
    retention: readRetention(options.retention ?? {}),
    planner: readPlanner(options.planner ?? {}),
    build: readBuild(options.build),
    removed: readChoice(options.removed ?? 'pause', 'removed', ['pause', 'delete']),
    migrate: readBoolean(options.migrate ?? true, 'migrate'),
    quotas: readQuotas(options.quotas),
  })
}

function readJobs(jobs: unknown): ReadonlyMap<string, Job> {
  if (!Array.isArray(jobs)) throw refused(`jobs must be a list, not ${shown(jobs)}`)
  const known = new Map<string, Job>()
  for (const job of jobs) {
    if (!isJob(job))
      throw refused(`jobs contains ${shown(job)}, which is not a job`, 'define each job with defineJob()')
    if (known.has(job.name)) {
      throw new EverytickError('JOB_DUPLICATE', `two jobs are named "${job.name}"`, { hint: 'rename one of them' })
    }
    known.set(job.name, job)
  }
  return known
}

function readSchedules(schedules: unknown, jobs: ReadonlyMap<string, Job>): readonly DeclaredSchedule[] {
  if (!Array.isArray(schedules)) throw refused(`schedules must be a list, not ${shown(schedules)}`)
  const declared = schedules.map(readDeclared)
  for (const each of declared) jobOf(each.job, jobs, scheduleName(each))
  refuseTwins(declared)
  return Object.freeze(declared)
}

function readDeclared(given: unknown): DeclaredSchedule {
  if (typeof given !== 'object' || given === null)
    throw refused(
      `schedules contains ${shown(given)}, which is not a schedule`,
      'declare each schedule with schedule()',
    )
  return 'kind' in given && given.kind === 'schedule'
    ? (given as DeclaredSchedule)
    : readSchedule(given as ScheduleOptions)
}

/** The second of two schedules with one key would silently overwrite the first. */
export function refuseTwins(schedules: readonly { readonly workspace: string; readonly key: string }[]): void {
  const seen = new Set<string>()
  for (const each of schedules) {
    const name = `${each.workspace}\n${each.key}`
    if (seen.has(name))
      throw new EverytickError('DUPLICATE_KEY', `${scheduleName(each)} is declared twice`, {
        hint: 'rename or remove one of them',
      })
    seen.add(name)
  }
}

function readPlanner(planner: { readonly mode?: PlannerMode }): Settings['planner'] {
  checkKeys(planner, ['mode'], 'planner')
  return Object.freeze({ mode: readChoice(planner.mode ?? 'leader', 'planner.mode', ['leader', 'sharded', 'all']) })
}

function readBuild(build: unknown): number | null {
  if (build === undefined) return null
  if (typeof build === 'number') return readInteger(build, 'build', [0, Number.MAX_SAFE_INTEGER])
  return readInstantOption(build, 'build')
}

function readLogger(logger: Logger): Logger {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    if (typeof logger?.[level] !== 'function') throw refused(`logger has no method ${level}()`)
  }
  return safeLogger(logger)
}

export function readRetention(retention: RetentionOptions): Retention {
  checkKeys(retention, ['history', 'journal', 'idempotency', 'orphans', 'endedSchedules'], 'retention')
  const { history = '30d', journal = '30d', idempotency = '24h', orphans = '7d', endedSchedules = '30d' } = retention
  return Object.freeze({
    historyMs: readDuration(history, 'retention.history'),
    journalMs: readDuration(journal, 'retention.journal'),
    idempotencyMs: readDuration(idempotency, 'retention.idempotency'),
    workersMs: WORKERS_MS,
    orphansMs: readDuration(orphans, 'retention.orphans'),
    endedMs: endedSchedules === 'off' ? null : readDuration(endedSchedules, 'retention.endedSchedules'),
  })
}
