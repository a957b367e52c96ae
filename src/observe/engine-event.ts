/** The events that the engine emits. They are for listeners only; no decision depends on them. */

import type { Json } from '../json.ts'
import type { Run, RunError } from '../run/run.ts'
import type { RetryReason } from '../run/settle.ts'
import type { QuotaName } from '../workspace/quotas.ts'
import type { Failover } from './failover.ts'
import type { LogLevel } from './logger.ts'

export type ScheduleAction = 'created' | 'changed' | 'paused' | 'resumed' | 'removed'

export type EngineEvent =
  | { readonly kind: 'run.started'; readonly run: Run; readonly at: number }
  | { readonly kind: 'run.succeeded'; readonly run: Run; readonly result: Json; readonly durationMs: number }
  | { readonly kind: 'run.failed'; readonly run: Run; readonly error: RunError; readonly durationMs: number }
  | { readonly kind: 'run.cancelled'; readonly run: Run }
  /** The worker handed the run over to an external system; it is still running. */
  | { readonly kind: 'run.handed_over'; readonly run: Run }
  /** The run goes back to its queue. */
  | {
      readonly kind: 'run.retry'
      readonly run: Run
      readonly reason: RetryReason
      readonly delayMs: number
      readonly error: RunError | null
      readonly durationMs: number
    }
  /** A result arrived after the lease was lost, and was rejected. */
  | { readonly kind: 'run.refused'; readonly run: Run }
  /** The lease was lost while the handler still runs; its signal was aborted. */
  | { readonly kind: 'run.lease_lost'; readonly run: Run }
  | {
      readonly kind: 'run.log'
      readonly run: Run
      readonly level: LogLevel
      readonly message: string
      readonly data?: unknown
    }
  | { readonly kind: 'job.unknown'; readonly run: Run; readonly workerId: string }
  | { readonly kind: 'schedule.planned'; readonly runs: number; readonly stale: number }
  /** `count` occurrences were recorded as missed. */
  | { readonly kind: 'schedule.missed'; readonly count: number }
  /** A complete planner pass of this process. */
  | { readonly kind: 'planner.passed'; readonly durationMs: number }
  /** One write that renewed `count` leases. */
  | { readonly kind: 'leases.renewed'; readonly count: number }
  | {
      readonly kind: 'schedule.quarantined'
      readonly scheduleId: string
      readonly key: string
      readonly code: string
      readonly message: string
    }
  /** By the engine, because of the schedule's policy. */
  | {
      readonly kind: 'schedule.paused'
      readonly scheduleId: string
      readonly workspace: string
      readonly key: string
      readonly by: string
      readonly reason: string
    }
  /** The process stopped with unfinished work: runs that took longer than the drain, and results that it could not write. */
  | {
      readonly kind: 'stop.incomplete'
      readonly drainMs: number
      readonly interrupted: readonly Run[]
      readonly unwritten: readonly Run[]
    }
  /** By this process; `names` lists some of them as `workspace/key`. */
  | {
      readonly kind: 'schedules.changed'
      readonly action: ScheduleAction
      readonly count: number
      readonly names: readonly string[]
      readonly by: string
    }
  /** This process has started or stopped to run a background task. */
  | { readonly kind: 'leadership.changed'; readonly task: string; readonly leads: boolean }
  /** A workspace quota refused a call; nothing was written. */
  | { readonly kind: 'quota.refused'; readonly workspace: string; readonly quota: QuotaName }
  /** `count` rows were older than their retention. */
  | { readonly kind: 'retention.removed'; readonly count: number }
  /** A loop works again after failures. */
  | { readonly kind: 'engine.recovered'; readonly where: string }
  /** The database is another server than before, or its log went back; the failover is recorded. */
  | { readonly kind: 'store.failed_over'; readonly failover: Failover }
  /** A pass failed and will be retried. */
  | { readonly kind: 'engine.error'; readonly where: string; readonly error: unknown; readonly retryInMs: number }
