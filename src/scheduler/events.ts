/** Emits engine events to listeners, counters and the log; nothing awaits a listener, and a listener cannot affect the engine. */
import type { Json } from '../json.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import { createErrorThrottle } from '../observe/error-throttle.ts'
import type { FailoverCause } from '../observe/failover.ts'
import type { Logger } from '../observe/logger.ts'
import type { RunError } from '../run/run.ts'
import type { RetryReason } from '../run/settle.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { failureLine, type Line, lineOf, recoveryLine } from './logging.ts'
import { type RunView, runView } from './run-view.ts'

export interface Events {
  'run.started': { readonly run: RunView; readonly at: Date }
  'run.succeeded': { readonly run: RunView; readonly result: Json; readonly durationMs: number }
  'run.failed': { readonly run: RunView; readonly error: RunError; readonly durationMs: number }
  'run.cancelled': { readonly run: RunView }
  /** The handler threw `HandOver`: the run stays `running` until an external system completes it or its time is up. */
  'run.handed_over': { readonly run: RunView }
  /** The run returns to its queue; `error` when its attempt failed. */
  'run.retry': {
    readonly run: RunView
    readonly reason: RetryReason
    readonly delayMs: number
    readonly error: RunError | null
  }
  /** A result arrived after the lease was lost, and was rejected. */
  'run.refused': { readonly run: RunView }
  'run.lease_lost': { readonly run: RunView }
  /** This worker does not have the job of the run, and returned the run to the queue. */
  'job.unknown': { readonly run: RunView; readonly workerId: string }
  /** The planner put a schedule that it cannot plan into quarantine. */
  'schedule.quarantined': {
    readonly scheduleId: string
    readonly key: string
    readonly code: string
    readonly message: string
  }
  /** Everytick paused a schedule: too many runs failed in a row, or a handler threw `Discard` with `pauseSchedule`. */
  'schedule.paused': {
    readonly scheduleId: string
    readonly workspace: string
    readonly key: string
    readonly by: string
    readonly reason: string
  }
  /**
   * The database failed over to another server, such as a promoted standby. With `mayHaveLost`, writes that were acknowledged
   * between `from` and `to` may be missing.
   */
  'store.failed_over': {
    readonly mayHaveLost: boolean
    readonly from: Date
    readonly to: Date
    readonly cause: FailoverCause
  }
  /** A background loop failed and will retry. */
  error: { readonly where: string; readonly error: unknown; readonly retryInMs: number }
}

export type EventName = keyof Events
export type Listener<Name extends EventName> = (event: Events[Name]) => unknown

/** The public event of each engine event; the others are internal. */
const NAMES: Partial<Record<EngineEvent['kind'], EventName>> = {
  'run.started': 'run.started',
  'run.succeeded': 'run.succeeded',
  'run.failed': 'run.failed',
  'run.cancelled': 'run.cancelled',
  'run.handed_over': 'run.handed_over',
  'run.retry': 'run.retry',
  'run.refused': 'run.refused',
  'run.lease_lost': 'run.lease_lost',
  'job.unknown': 'job.unknown',
  'schedule.quarantined': 'schedule.quarantined',
  'schedule.paused': 'schedule.paused',
  'store.failed_over': 'store.failed_over',
  'engine.error': 'error',
}
export const EVENT_NAMES: readonly EventName[] = Object.values(NAMES)
const ENDS: ReadonlySet<string> = new Set(['run.succeeded', 'run.failed', 'run.cancelled'])

/** Events of normal operation. */
const ROUTINE: ReadonlySet<EngineEvent['kind']> = new Set([
  'schedules.changed',
  'schedule.planned',
  'leadership.changed',
  'retention.removed',
])

export interface HubOptions {
  readonly clock?: Pick<Clock, 'elapsed'>
  /** Whether events of normal operation are logged; true when absent. */
  readonly logsRoutine?: boolean
}

export interface EventHub {
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** Emits an engine event. */
  tell(fact: EngineEvent): void
  /** Calls the listener synchronously with every engine event; for counters, which must be fast. */
  onEvent(listener: (fact: EngineEvent) => void): () => void
  /** Calls back when the run ends in this process; a run that ends in another process does not call back. */
  onEnd(runId: string, ended: () => void): () => void
}

export function eventHub(logger: Logger, { clock = systemClock, logsRoutine = true }: HubOptions = {}): EventHub {
  const throttle = createErrorThrottle()
  const listeners = new Map<EventName, Set<(event: never) => unknown>>()
  const endings = new Map<string, Set<() => void>>()
  let counting: readonly ((fact: EngineEvent) => void)[] = []

  const log = (line: Line | null): void => {
    try {
      if (line) logger[line.level](line.message, line.data)
    } catch {
      // A logger that throws must not stop the engine, and there is nowhere left to report it.
    }
  }

  const lineFor = (fact: EngineEvent): Line | null => {
    if (fact.kind === 'engine.recovered') return throttle.recovered(fact.where) ? recoveryLine(fact.where) : null
    if (fact.kind === 'job.unknown') return unknownJobLine(fact)
    if (fact.kind !== 'engine.error') return logsRoutine || !ROUTINE.has(fact.kind) ? lineOf(fact) : null
    const due = throttle.failed(fact.where, clock.elapsed())
    return due && failureLine(fact, due)
  }

  /** Throttled: such a run returns every few seconds, and there may be thousands. */
  const unknownJobLine = (fact: Extract<EngineEvent, { kind: 'job.unknown' }>): Line | null => {
    const due = throttle.failed(fact.kind, clock.elapsed())
    const line = due && lineOf(fact)
    return line && due.kind === 'repeated' ? { ...line, data: { ...line.data, unlogged: due.unlogged } } : line
  }

  const count = (listener: (fact: EngineEvent) => void, fact: EngineEvent): void => {
    try {
      listener(fact)
    } catch (error) {
      log({ level: 'error', message: `the counter of "${fact.kind}" events threw`, data: { error } })
    }
  }

  const emit = (name: EventName, fact: EngineEvent): void => {
    const failed = (error: unknown): void =>
      log({ level: 'error', message: `a listener of "${name}" threw`, data: { error } })
    const event = eventOf(fact)
    for (const listener of listeners.get(name) ?? []) {
      try {
        const answer = listener(event as never)
        if (answer instanceof Promise) answer.catch(failed)
      } catch (error) {
        failed(error)
      }
    }
  }

  return {
    on: (name, listener) => keep(listeners, name, listener),
    onEnd: (runId, ended) => keep(endings, runId, ended),
    onEvent(listener) {
      counting = [...counting, listener]
      return () => {
        counting = counting.filter((each) => each !== listener)
      }
    },
    tell(fact) {
      const line = lineFor(fact)
      log(line)
      const where = throttledAs(fact)
      if (line && where !== null) throttle.logged(where, clock.elapsed())
      for (const listener of counting) count(listener, fact)
      const name = NAMES[fact.kind]
      // Creates views only when there is a listener: thousands of events a second pass here.
      if (name && listeners.has(name)) emit(name, fact)
      if (endings.size > 0 && 'run' in fact && ENDS.has(fact.kind))
        for (const ended of endings.get(fact.run.id) ?? []) ended()
    },
  }
}

/** The throttle key of an event; null for events that are always logged. */
const throttledAs = (fact: EngineEvent): string | null =>
  fact.kind === 'engine.error' ? fact.where : fact.kind === 'job.unknown' ? fact.kind : null

/** Adds the value to the set of this key; returns a function that removes it. */
function keep<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): () => void {
  const set = sets.get(key) ?? new Set<Value>()
  sets.set(key, set.add(value))
  return () => {
    set.delete(value)
    if (set.size === 0 && sets.get(key) === set) sets.delete(key)
  }
}

/** Engine events carry the run as it was claimed; listeners get the run in its new state. */
function eventOf(fact: EngineEvent): Events[EventName] | null {
  switch (fact.kind) {
    case 'run.started':
      return { run: runView(fact.run), at: new Date(fact.at) }
    case 'run.succeeded': {
      const { run, result, durationMs } = fact
      return { run: runView({ ...run, state: 'succeeded', result }), result, durationMs }
    }
    case 'run.failed': {
      const { run, error, durationMs } = fact
      return { run: runView({ ...run, state: 'failed', error }), error, durationMs }
    }
    case 'run.cancelled':
      return { run: runView({ ...fact.run, state: 'cancelled' }) }
    case 'run.retry': {
      const { run, reason, delayMs, error } = fact
      return { run: runView({ ...run, state: 'pending' }), reason, delayMs, error }
    }
    case 'run.handed_over':
      return { run: runView({ ...fact.run, workerId: null }) }
    case 'run.refused':
    case 'run.lease_lost':
      return { run: runView(fact.run) }
    case 'job.unknown':
      return { run: runView(fact.run), workerId: fact.workerId }
    case 'schedule.paused':
    case 'schedule.quarantined': {
      const { kind: _, ...event } = fact
      return event
    }
    case 'store.failed_over': {
      const { mayHaveLost, from, to, cause } = fact.failover
      return { mayHaveLost, from: new Date(from), to: new Date(to), cause }
    }
    case 'engine.error': {
      const { kind: _, ...event } = fact
      return event
    }
    default:
      return null
  }
}
