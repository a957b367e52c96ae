/** What the engine tells the world as it happens; facts are for listeners and never decide anything. */

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
  /** Its worker left it to somebody outside; it is still running. */
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
  /** A result came after the lease was lost, and was not accepted. */
  | { readonly kind: 'run.refused'; readonly run: Run }
  /** The lease is gone while the work still runs; its signal was aborted. */
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
  /** So many occurrences were recorded as missed. */
  | { readonly kind: 'schedule.missed'; readonly count: number }
  /** A whole pass of the planner, while it was this process's turn to plan. */
  | { readonly kind: 'planner.passed'; readonly durationMs: number }
  /** One write that kept so many leases. */
  | { readonly kind: 'leases.renewed'; readonly count: number }
  | {
      readonly kind: 'schedule.quarantined'
      readonly scheduleId: string
      readonly key: string
      readonly code: string
      readonly message: string
    }
  /** By the engine itself, because its policy asks for that. */
  | {
      readonly kind: 'schedule.paused'
      readonly scheduleId: string
      readonly workspace: string
      readonly key: string
      readonly by: string
      readonly reason: string
    }
  /** The process stopped without having ended all its work: runs that took longer than the drain, and results that could not be written. */
  | {
      readonly kind: 'stop.incomplete'
      readonly drainMs: number
      readonly interrupted: readonly Run[]
      readonly unwritten: readonly Run[]
    }
  /** By this process: `names` are `workspace/key` of some of them. */
  | {
      readonly kind: 'schedules.changed'
      readonly action: ScheduleAction
      readonly count: number
      readonly names: readonly string[]
      readonly by: string
    }
  /** This process does a background task from now on, or no longer. */
  | { readonly kind: 'leadership.changed'; readonly task: string; readonly leads: boolean }
  /** A quota of a workspace refused a call; nothing was written. */
  | { readonly kind: 'quota.refused'; readonly workspace: string; readonly quota: QuotaName }
  /** So many rows were older than their retention. */
  | { readonly kind: 'retention.removed'; readonly count: number }
  /** A loop works again after it failed. */
  | { readonly kind: 'engine.recovered'; readonly where: string }
  /** The database is another server than before, or went back in its log; that is on record. */
  | { readonly kind: 'store.failed_over'; readonly failover: Failover }
  /** A pass failed and will be tried again. */
  | { readonly kind: 'engine.error'; readonly where: string; readonly error: unknown; readonly retryInMs: number }
