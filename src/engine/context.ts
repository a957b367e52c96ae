/** What a handler is given besides its payload: facts of the run, a signal, and ways to report; it decides nothing. */
import { EverytickError } from '../errors.ts'
import type { Fact } from '../observe/fact.ts'
import type { Logger, LogLevel } from '../observe/logger.ts'
import { parseDuration } from '../time/duration.ts'
import type { Held } from './grants.ts'
import type { Heartbeat } from './heartbeat.ts'

export interface JobContext {
  readonly run: {
    readonly id: string
    readonly attempt: number
    readonly maxAttempts: number
    /** Hand it to systems that can refuse an older holder. */
    readonly fence: number
    readonly scheduledAt: Date | null
    readonly dueAt: Date
    readonly startedAt: Date
    readonly trigger: string
  }
  readonly workspace: string
  readonly schedule?: { readonly id: string; readonly key: string; readonly workspace: string }
  /** (previous fire, this fire]: right under catch-up too. Absent when enqueued by hand. */
  readonly slot?: { readonly start: Date | null; readonly end: Date }
  /** Aborted on timeout, on cancel, when the lease is lost, and when the worker stops. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** A fraction from 0 to 1; written with the next renewal. */
  progress(fraction: number, note?: string): void
  /** Renews the lease now. */
  heartbeat(): Promise<void>
  /** For long synchronous work: holds the lease for this long from now. */
  extendLease(duration: string | number): Promise<void>
  /** The same for every attempt of this run. */
  readonly idempotencyKey: string
}

export interface ContextOptions {
  readonly held: Held
  readonly startedAt: number
  readonly leaseMs: number
  readonly heartbeat: Heartbeat
  readonly onFact: (fact: Fact) => void
}

export function createContext({ held, startedAt, leaseMs, heartbeat, onFact }: ContextOptions): JobContext {
  const { run } = held
  const log = (level: LogLevel) => (message: string, data?: unknown) =>
    onFact({ kind: 'run.log', run, level, message, ...(data === undefined ? {} : { data }) })
  const date = (at: number | null): Date | null => (at === null ? null : new Date(at))
  const renew = async (ms: number): Promise<void> => {
    if (!(await heartbeat.renew([held], ms))) held.signal.throwIfAborted()
  }
  return {
    run: {
      id: run.id,
      attempt: run.attempt,
      maxAttempts: run.policy.retry.attempts,
      fence: run.fence,
      scheduledAt: date(run.scheduledAt),
      dueAt: new Date(run.dueAt),
      startedAt: new Date(startedAt),
      trigger: run.trigger,
    },
    workspace: run.workspace,
    ...(run.schedule ? { schedule: { id: run.schedule.id, key: run.schedule.key, workspace: run.workspace } } : {}),
    ...(run.scheduledAt === null ? {} : { slot: { start: date(run.slotStartAt), end: new Date(run.scheduledAt) } }),
    get signal() {
      return held.signal
    },
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    progress(fraction, note) {
      if (!(fraction >= 0 && fraction <= 1)) {
        throw new EverytickError('OPTION_INVALID', `progress is a fraction from 0 to 1, not ${String(fraction)}`)
      }
      held.progress = { fraction, ...(note === undefined ? {} : { note: String(note).slice(0, 200) }) }
    },
    heartbeat: () => renew(leaseMs),
    extendLease: (duration) => renew(typeof duration === 'number' ? duration : parseDuration(duration)),
    idempotencyKey: run.id,
  }
}
