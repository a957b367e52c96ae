/** A store as the engine sees it: verbs in small groups, instants as epoch milliseconds, no SQL and no row type. */
import type { AppStore } from './apps.ts'
import type { AuditLogStore } from './audit-log.ts'
import type { BackfillStore } from './backfills.ts'
import type { ClaimStore } from './claims.ts'
import type { DocumentStore } from './documents.ts'
import type { FailoverStore } from './failovers.ts'
import type { FeedStore } from './feed.ts'
import type { GroupStore } from './groups.ts'
import type { HistoryStore } from './history.ts'
import type { LockStore } from './locks.ts'
import type { LogStore } from './logs.ts'
import type { MonitoringStore } from './monitoring.ts'
import type { PlanningStore } from './planning.ts'
import type { QueueStore } from './queues.ts'
import type { QuotaStore } from './quotas.ts'
import type { RunStore } from './runs.ts'
import type { ScheduleStore } from './schedules.ts'
import type { StatsStore } from './stats.ts'
import type { UpkeepStore } from './upkeep.ts'
import type { WakeStore } from './wake.ts'
import type { WorkerStore } from './workers.ts'

export interface Store {
  /** For people, such as `sqlite ./everytick.db` or `postgres everytick@db`; never a password. */
  readonly name: string
  readonly schedules: ScheduleStore
  readonly planning: PlanningStore
  readonly runs: RunStore
  readonly claims: ClaimStore
  readonly groups: GroupStore
  readonly queues: QueueStore
  readonly backfills: BackfillStore
  readonly apps: AppStore
  readonly history: HistoryStore
  readonly locks: LockStore
  readonly workers: WorkerStore
  readonly failovers: FailoverStore
  readonly documents: DocumentStore
  readonly auditLog: AuditLogStore
  readonly logs: LogStore
  readonly feed: FeedStore
  readonly stats: StatsStore
  readonly monitoring: MonitoringStore
  readonly quotas: QuotaStore
  readonly upkeep: UpkeepStore
  readonly wake: WakeStore
  /** The clock that decides what is due and whose lease has ended. */
  now(): Promise<number>
  /** Waits for what is in flight; calling it twice is calling it once. */
  close(): Promise<void>
}
