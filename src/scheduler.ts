/** The app object that users hold: starts and stops its parts together; each part has its own file. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { createEngine, type Engine, type EngineOptions, type Role } from './engine/engine.ts'
import type { Job } from './job.ts'
import { openStore } from './open-store.ts'
import { checkKeys, type Duration, readChoice, readDuration, refused } from './options.ts'
import { type AuditOptions, type AuditReport, audit } from './scheduler/audit.ts'
import { type Backfills, createBackfills } from './scheduler/backfills.ts'
import { type CleanupOptions, type CleanupReport, cleanup } from './scheduler/cleanup.ts'
import { type Core, type InTransaction, keepCore, notRunning } from './scheduler/core.ts'
import { createCounters } from './scheduler/counters.ts'
import {
  type EnqueueArguments,
  type EnqueueItem,
  enqueue,
  enqueueMany,
  type ResultOf,
  type RunHandle,
} from './scheduler/enqueue.ts'
import { EVENT_NAMES, type EventName, eventHub, type Listener } from './scheduler/events.ts'
import { keepJobsPresent } from './scheduler/job-presence.ts'
import { createLocks, type Locks } from './scheduler/locks.ts'
import { watchPlanner } from './scheduler/planner-watch.ts'
import { publishJobs } from './scheduler/published-jobs.ts'
import { createQueues, type Queues } from './scheduler/queues.ts'
import { createQuotaCheck } from './scheduler/quotas.ts'
import { createRuns, type Runs } from './scheduler/runs.ts'
import { createSchedules, type Schedules } from './scheduler/schedules.ts'
import { type EverytickOptions, readSettings } from './scheduler/settings.ts'
import { stopOnSignal } from './scheduler/signal.ts'
import { createStoreFailures } from './scheduler/store-failures.ts'
import { type SyncOptions, type SyncReport, syncSchedules } from './scheduler/sync.ts'
import { loadTracer } from './scheduler/tracing.ts'
import { type Interruptible, interruptOnUncaught, uncaughtIn } from './scheduler/uncaught.ts'
import type { Store } from './store/contract/store.ts'
import { type Clock, systemClock } from './time/clock.ts'
import { systemTimers, type Timers } from './time/timers.ts'
import { uuidGenerator } from './uuid.ts'

export interface Everytick extends AsyncDisposable {
  readonly schedules: Schedules
  readonly runs: Runs
  readonly queues: Queues
  readonly backfills: Backfills
  readonly locks: Locks
  /** Creates one run of a job. A job without a schema takes no payload: `enqueue(job, options)`. */
  enqueue<J extends Job>(job: J, ...args: EnqueueArguments<J>): Promise<RunHandle<ResultOf<J>>>
  /** Creates many runs of a job in one write: all or none. */
  enqueueMany<J extends Job>(
    job: J,
    items: readonly EnqueueItem<J>[],
    options?: InTransaction,
  ): Promise<RunHandle<ResultOf<J>>[]>
  /** Subscribes to events of this process. Returns an unsubscribe function. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** Stores the schedules declared in code, as `start()` does. With `dryRun`, only reports what would change. */
  sync(options?: SyncOptions): Promise<SyncReport>
  /** Recomputes the occurrences of every schedule and compares them with the stored runs and records: lost, doubled, unexplained. */
  audit(options?: AuditOptions): Promise<AuditReport>
  /** Deletes rows older than their retention now, which the janitor otherwise does in small steps. With `dryRun`, only counts them. */
  cleanup(options?: CleanupOptions): Promise<CleanupReport>
  /** Starts the planner and the worker, or only the given role. Idempotent. */
  start(options?: { readonly role?: Role }): Promise<void>
  /** Stops claiming runs, waits up to `drain` (30s) for runs in progress, and returns the rest to the queue. Idempotent. */
  stop(options?: StopOptions): Promise<void>
}

export interface StopOptions {
  /** How long to wait for runs in progress; `30s` when absent. */
  readonly drain?: Duration
  /**
   * For your own `uncaughtException` listener: the error that ends the process. Every run in progress returns to its queue within
   * two seconds, without counting an attempt. Only the run whose code threw the error has its attempt fail with it.
   */
  readonly error?: unknown
}

export function everytick(options: EverytickOptions): Everytick {
  const seams = {
    clock: systemClock,
    timers: systemTimers,
    createEngine,
    onSignal: stopOnSignal,
    onUncaught: interruptOnUncaught,
  }
  return createApp(options, seams)
}

/** The dependencies that the test kit replaces. */
export interface Seams {
  readonly clock: Clock
  readonly timers: Timers
  readonly createEngine: (options: EngineOptions) => Engine
  /** Calls `stop` when the process receives SIGTERM; returns a function that removes the listener. */
  readonly onSignal: (stop: () => Promise<void>) => () => void
  /** Interrupts the engine when an uncaught error ends the process; returns a function that removes the listener. */
  readonly onUncaught: (engine: Interruptible) => () => void
}

export function createApp(options: EverytickOptions, seams: Seams): Everytick {
  const settings = readSettings(options)
  const { clock, timers } = seams
  const hub = eventHub(settings.logger, { clock, logsRoutine: settings.logsRoutine })
  const counters = createCounters({ jobs: settings.ownJobs.keys(), queues: Object.keys(settings.queues) })
  hub.onEvent(counters.count)
  const storeFailures = createStoreFailures(clock)
  hub.onEvent(storeFailures.note)
  const onStops = new Set<() => void | Promise<void>>()
  const identity = `${settings.name || 'everytick'}-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  let opening: Promise<Store> | null = null
  let stopped = false
  let started: Promise<void> | null = null
  let stopping: Promise<void> | null = null
  let engine: Engine | null = null
  let startedAs = ''
  let forgetSignal = (): void => {}
  let forgetUncaught = (): void => {}

  const open = (): Promise<Store> => {
    if (typeof settings.store !== 'string') return Promise.resolve(settings.store)
    opening ??= openStore(settings.store, { clock, migrate: settings.migrate }).catch((error: unknown) => {
      // The next call tries again: a database that is down at start may be back a moment later.
      opening = null
      throw error
    })
    return opening
  }

  const core: Core = {
    settings,
    clock,
    timers,
    hub,
    counters,
    quotas: createQuotaCheck(() => core),
    isStoreFailing: storeFailures.isFailing,
    slots: () => engine?.slots() ?? [],
    isRunning: () => engine !== null && !stopping,
    isStopped: () => stopped,
    newId: uuidGenerator(clock),
    store: () => (stopped ? Promise.reject(notRunning()) : open()),
    onStop(callback) {
      onStops.add(callback)
      return () => onStops.delete(callback)
    },
  }

  const begin = async (roles: readonly Role[]): Promise<void> => {
    const store = await core.store()
    if (roles.includes('scheduler')) await syncSchedules(core)
    await publishJobs(store, settings.ownJobs.values())
    const tracer = await loadTracer()
    engine = seams.createEngine({
      store,
      clock,
      timers,
      roles,
      jobs: settings.ownJobs,
      queues: settings.queues,
      leaseMs: settings.leaseMs,
      lookaheadMs: settings.lookaheadMs,
      retention: settings.retention,
      planner: settings.planner.mode,
      workerId: identity,
      host: { name: hostname(), pid: process.pid },
      onEvent: hub.tell,
      ...(tracer ? { tracer } : {}),
    })
    await engine.start()
    if (roles.includes('worker')) keepJobsPresent(core)
    if (!roles.includes('scheduler') && settings.schedules.length > 0) watchPlanner(core)
    forgetSignal = seams.onSignal(() => app.stop())
    forgetUncaught = seams.onUncaught(engine)
  }

  const end = async (drainMs: number): Promise<void> => {
    // A start in flight ends first, whether it succeeds or not; its caller gets the error.
    await started?.catch(() => {})
    forgetSignal()
    await engine?.stop({ drainMs })
    forgetUncaught()
    // Everything that uses the store ends before the store closes.
    await Promise.allSettled([...onStops].map((callback) => callback()))
    stopped = true
    const opened = await opening?.catch(() => null)
    opening = null
    engine = null
    started = null
    await opened?.close()
  }

  const app: Everytick = {
    schedules: createSchedules(core),
    runs: createRuns(core),
    queues: createQueues(core),
    backfills: createBackfills(core),
    locks: createLocks(core, identity),
    enqueue: (job, ...args) => enqueue(core, job, args) as Promise<RunHandle<never>>,
    enqueueMany: (job, items, options = {}) =>
      enqueueMany(core, job, { items, options }) as Promise<RunHandle<never>[]>,
    on(name, listener) {
      readChoice(name, 'the name of an event', EVENT_NAMES)
      return hub.on(name, listener)
    },
    sync: (options) => syncSchedules(core, options),
    audit: (options) => audit(core, options),
    cleanup: (options) => cleanup(core, options),
    async start(given = {}) {
      checkKeys(given, ['role'], 'start()')
      const role = given.role === undefined ? null : readChoice(given.role, 'role', ['scheduler', 'worker'])
      await stopping
      stopped = false
      const roles: readonly Role[] = role === null ? ['scheduler', 'worker'] : [role]
      if (started && startedAs !== roles.join()) throw refused(`the app was started as ${startedAs}`, 'stop it first')
      startedAs = roles.join()
      started ??= begin(roles).catch((error: unknown) => {
        started = null
        throw error
      })
      return started
    },
    stop(given = {}) {
      checkKeys(given, ['drain', 'error'], 'stop()')
      const drainMs = readDuration(given.drain ?? '30s', 'drain')
      if (engine !== null && 'error' in given) void engine.interrupt(uncaughtIn([engine], given.error))
      stopping ??= end(drainMs).finally(() => {
        stopping = null
      })
      return stopping
    },
    [Symbol.asyncDispose]: () => app.stop(),
  }
  keepCore(app, core)
  return Object.freeze(app)
}
