/** The door `everytick`: jobs, schedules and the app that runs them. */
export type { JobContext } from './engine/context.ts'
export type { Role } from './engine/engine.ts'
export { type ErrorCode, EverytickError, type Span } from './errors.ts'
export { type Everytick, everytick } from './everytick.ts'
export { type Delivery, defineJob, type Job, type JobOptions, type NoPayload, type RetryOptions } from './job.ts'
export type { Json } from './json.ts'
export type { Logger } from './observe/logger.ts'
export type { Duration, Instant } from './options.ts'
export { Discard, RetryAfter } from './run/control.ts'
export type { Gate, Overlap, RunError } from './run/run.ts'
export type { RunState } from './run/state.ts'
export { type DeclaredSchedule, type ScheduleOptions, schedule } from './schedule-definition.ts'
export type { By } from './scheduler/actor.ts'
export type { AuditOptions, AuditReport, NamedOccurrence } from './scheduler/audit.ts'
export type { BackfillAnswer, BackfillOptions } from './scheduler/backfill.ts'
export type { Backfills, BackfillView } from './scheduler/backfills.ts'
export type { InTransaction } from './scheduler/core.ts'
export { type Config, defineConfig } from './scheduler/define-config.ts'
export type { EnqueueOptions, RunHandle, RunOptions } from './scheduler/enqueue.ts'
export type { EventName, Events } from './scheduler/events.ts'
export type { LockContext, Locks, LockView } from './scheduler/locks.ts'
export type { PayloadSchema } from './scheduler/payload.ts'
export type { QueuePauseOptions, Queues, QueueView } from './scheduler/queues.ts'
export type { ExcludeOption } from './scheduler/read-exclusions.ts'
export type { JitterOption } from './scheduler/read-firing.ts'
export type { QueueOption } from './scheduler/read-queues.ts'
export type { AnyRule, When } from './scheduler/read-timing.ts'
export type { FieldChange, RevisionView } from './scheduler/revisions.ts'
export type { RunView, Stored } from './scheduler/run-view.ts'
export type { JournalView, RunListOptions, Runs } from './scheduler/runs.ts'
export type { CancelCounts, CancelFilter, RedriveFilter } from './scheduler/runs-in-bulk.ts'
export type { ScheduleChanges } from './scheduler/schedule-edit.ts'
export type { ScheduleView } from './scheduler/schedule-view.ts'
export type { RuleWords, ScheduleWords } from './scheduler/schedule-words.ts'
export type {
  ChangeOptions,
  EditAnswer,
  EditOptions,
  PauseOptions,
  ResumeOptions,
  ScheduleListOptions,
  Schedules,
  UpsertAnswer,
} from './scheduler/schedules.ts'
export type { EverytickOptions, PlannerMode, RetentionOptions } from './scheduler/settings.ts'
export type { SyncOptions, SyncReport } from './scheduler/sync.ts'
export type { SyncAction, SyncStep } from './scheduler/sync-plan.ts'
export type { TriggerOptions } from './scheduler/trigger.ts'
export type { Why } from './scheduler/why.ts'
export type { Executor } from './store/contract/executor.ts'
export type { Store } from './store/contract/store.ts'
