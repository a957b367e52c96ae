/** The `ctx` that a handler receives: facts about the run, a signal, a logger and progress reporting. */
import { EverytickError } from '../errors.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Logger, LogLevel } from '../observe/logger.ts'
import { completionTokenOf } from '../run/completion-token.ts'
import { parseDuration } from '../time/duration.ts'
import type { CompletionKey } from './completion-key.ts'
import type { LeaseRenewal } from './lease-renewal.ts'
import type { LeasedRun } from './leased-runs.ts'
import type { RunLog } from './run-log.ts'

export interface JobContext {
  readonly run: {
    readonly id: string
    readonly attempt: number
    readonly maxAttempts: number
    /** Grows with every claim; pass it to systems that can reject writes of an older attempt. */
    readonly fence: number
    readonly scheduledAt: Date | null
    readonly dueAt: Date
    readonly startedAt: Date
    readonly trigger: string
  }
  readonly workspace: string
  /** Absent when enqueued by hand. */
  readonly schedule?: { readonly id: string; readonly key: string; readonly workspace: string } | undefined
  /** The range (previous fire, this fire], also correct for caught-up runs. Absent when enqueued by hand. */
  readonly slot?: { readonly start: Date | null; readonly end: Date } | undefined
  /** Aborted on timeout, on cancel, when the lease is lost, and when the worker stops. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Reports progress as a fraction from 0 to 1; the worker stores it with the next lease renewal. */
  progress(fraction: number, note?: string): void
  /** Renews the lease now. */
  heartbeat(): Promise<void>
  /** Extends the lease to this long from now, before synchronous work that blocks the event loop. */
  extendLease(duration: string | number): Promise<void>
  /**
   * A token that lets an external system without an API key complete this attempt, and nothing else:
   * `POST /api/v1/runs/{id}/complete` with `authorization: Bearer <token>`, or `app.runs.complete(id, { token, … })`. Use it with `HandOver`.
   */
  completionToken(): Promise<string>
  /** The same for every attempt of this run. */
  readonly idempotencyKey: string
}

/** What all contexts of one worker share. */
export interface ContextTools {
  readonly leaseMs: number
  readonly heartbeat: LeaseRenewal
  readonly runLog: RunLog
  readonly completionKey: CompletionKey
  readonly onEvent: (fact: EngineEvent) => void
}

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))

/**
 * Created for every run, and most handlers use little of it, so each part is created on first use. Functions are bound, because
 * handlers destructure them: `({ log, progress })`.
 */
export class RunContext implements JobContext {
  readonly #leased: LeasedRun
  readonly #startedAt: number
  readonly #tools: ContextTools
  #run: JobContext['run'] | null = null
  #log: Logger | null = null

  constructor(leased: LeasedRun, startedAt: number, tools: ContextTools) {
    this.#leased = leased
    this.#startedAt = startedAt
    this.#tools = tools
  }

  get run(): JobContext['run'] {
    const { run } = this.#leased
    this.#run ??= {
      id: run.id,
      attempt: run.attempt,
      maxAttempts: run.policy.retry.attempts,
      fence: run.fence,
      scheduledAt: dateOf(run.scheduledAt),
      dueAt: new Date(run.dueAt),
      startedAt: new Date(this.#startedAt),
      trigger: run.trigger,
    }
    return this.#run
  }

  get workspace(): string {
    return this.#leased.run.workspace
  }

  get schedule(): JobContext['schedule'] {
    const { schedule, workspace } = this.#leased.run
    return schedule ? { id: schedule.id, key: schedule.key, workspace } : undefined
  }

  get slot(): JobContext['slot'] {
    const { scheduledAt, slotStartAt } = this.#leased.run
    return scheduledAt === null ? undefined : { start: dateOf(slotStartAt), end: new Date(scheduledAt) }
  }

  get signal(): AbortSignal {
    return this.#leased.signal
  }

  get log(): Logger {
    const leased = this.#leased
    const { onEvent, runLog } = this.#tools
    const log = (level: LogLevel) => (message: string, data?: unknown) => {
      runLog.add(leased, { level, message, data })
      onEvent({ kind: 'run.log', run: leased.run, level, message, ...(data === undefined ? {} : { data }) })
    }
    this.#log ??= { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
    return this.#log
  }

  get progress(): JobContext['progress'] {
    const leased = this.#leased
    return (fraction, note) => {
      if (!(fraction >= 0 && fraction <= 1)) {
        throw new EverytickError('OPTION_INVALID', `progress must be a fraction from 0 to 1, not ${String(fraction)}`)
      }
      leased.progress = { fraction, ...(note === undefined ? {} : { note: String(note).slice(0, 200) }) }
    }
  }

  get heartbeat(): JobContext['heartbeat'] {
    return () => this.#renew(this.#tools.leaseMs)
  }

  get extendLease(): JobContext['extendLease'] {
    return (duration) => this.#renew(typeof duration === 'number' ? duration : parseDuration(duration))
  }

  get completionToken(): JobContext['completionToken'] {
    const { id: runId, fence, claimId } = this.#leased.run
    return async () => completionTokenOf(await this.#tools.completionKey(), { runId, fence, claimId: claimId ?? '' })
  }

  get idempotencyKey(): string {
    return this.#leased.run.id
  }

  async #renew(ms: number): Promise<void> {
    if (!(await this.#tools.heartbeat.renew([this.#leased], ms))) this.#leased.signal.throwIfAborted()
  }
}
