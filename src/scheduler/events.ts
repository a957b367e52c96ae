/** Passes facts on to whoever listens, as things a user can read; listeners are never waited for and never decide anything. */
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
  /** Its worker left it to somebody outside: it is still running, until it is completed or its time is over. */
  'run.handed_over': { readonly run: RunView }
  /** The run goes back to its queue; `error` when its attempt failed. */
  'run.retry': {
    readonly run: RunView
    readonly reason: RetryReason
    readonly delayMs: number
    readonly error: RunError | null
  }
  /** A result came after the lease was lost, and was not accepted. */
  'run.refused': { readonly run: RunView }
  'run.lease_lost': { readonly run: RunView }
  /** A run of a job that this worker does not have; it went back to the queue. */
  'job.unknown': { readonly run: RunView; readonly workerId: string }
  /** A schedule that cannot be planned was set aside. */
  'schedule.quarantined': {
    readonly scheduleId: string
    readonly key: string
    readonly code: string
    readonly message: string
  }
  /** A schedule was paused, because its runs failed too often in a row or because the work of one asked for that. */
  'schedule.paused': {
    readonly scheduleId: string
    readonly workspace: string
    readonly key: string
    readonly by: string
    readonly reason: string
  }
  /**
   * The database is another server than before, such as a standby that was promoted. With `mayHaveLost`, writes that were
   * acknowledged between `from` and `to` may be missing.
   */
  'store.failed_over': {
    readonly mayHaveLost: boolean
    readonly from: Date
    readonly to: Date
    readonly cause: FailoverCause
  }
  /** Something failed behind the scenes and will be tried again. */
  error: { readonly where: string; readonly error: unknown; readonly retryInMs: number }
}

export type EventName = keyof Events
export type Listener<Name extends EventName> = (event: Events[Name]) => unknown

/** What each fact is called for users; what is not here is nobody's business but ours. */
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

/** What goes as it should. */
const ROUTINE: ReadonlySet<EngineEvent['kind']> = new Set([
  'schedules.changed',
  'schedule.planned',
  'leadership.changed',
  'retention.removed',
])

export interface HubOptions {
  readonly clock?: Pick<Clock, 'elapsed'>
  /** Whether what goes as it should is logged; true when absent. */
  readonly logsRoutine?: boolean
}

export interface EventHub {
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** For the engine. */
  tell(fact: EngineEvent): void
  /** Calls back on every fact as it is told, at once; for those who count, and must be quick. */
  onEvent(listener: (fact: EngineEvent) => void): () => void
  /** Calls back when this process has seen the run end; other processes may end it unseen. */
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
      // A logger that throws must not take the engine with it, and there is nowhere left to say so.
    }
  }

  const lineFor = (fact: EngineEvent): Line | null => {
    if (fact.kind === 'engine.recovered') return throttle.recovered(fact.where) ? recoveryLine(fact.where) : null
    if (fact.kind === 'job.unknown') return unknownJobLine(fact)
    if (fact.kind !== 'engine.error') return logsRoutine || !ROUTINE.has(fact.kind) ? lineOf(fact) : null
    const due = throttle.failed(fact.where, clock.elapsed())
    return due && failureLine(fact, due)
  }

  /** Such a run comes back every few seconds, and there may be thousands. */
  const unknownJobLine = (fact: Extract<EngineEvent, { kind: 'job.unknown' }>): Line | null => {
    const due = throttle.failed(fact.kind, clock.elapsed())
    const line = due && lineOf(fact)
    return line && due.kind === 'repeated' ? { ...line, data: { ...line.data, unlogged: due.unlogged } } : line
  }

  const count = (listener: (fact: EngineEvent) => void, fact: EngineEvent): void => {
    try {
      listener(fact)
    } catch (error) {
      log({ level: 'error', message: `what counts "${fact.kind}" threw`, data: { error } })
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
      // Views are made only when somebody listens: thousands of facts a second pass here.
      if (name && listeners.has(name)) emit(name, fact)
      if (endings.size > 0 && 'run' in fact && ENDS.has(fact.kind))
        for (const ended of endings.get(fact.run.id) ?? []) ended()
    },
  }
}

/** Under which name lines of such facts are counted; null for those that are all logged. */
const throttledAs = (fact: EngineEvent): string | null =>
  fact.kind === 'engine.error' ? fact.where : fact.kind === 'job.unknown' ? fact.kind : null

/** Adds to the set under this key; the answer takes it away again. */
function keep<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): () => void {
  const set = sets.get(key) ?? new Set<Value>()
  sets.set(key, set.add(value))
  return () => {
    set.delete(value)
    if (set.size === 0 && sets.get(key) === set) sets.delete(key)
  }
}

/** The engine speaks of the run as it was claimed; listeners hear of it as it is now. */
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
