/** The entry point `everytick/schedule-index`: finds due schedules with one indexed query, and claims each at most once. */
export { nextFireAfter, type RowTiming } from './schedule-index/advance.ts'
export {
  defineScheduleCollection,
  type ScheduleCollection,
  type ScheduleCollectionOptions,
  type ScheduleHookContext,
  type ScheduleHooks,
  type ScheduleState,
} from './schedule-index/collection.ts'
export type { ConformanceHarness, TestRunner } from './schedule-index/conformance/harness.ts'
export { createScheduleIndexConformanceTests } from './schedule-index/conformance/suite.ts'
export {
  type BadRow,
  NEVER_AT,
  type ScheduleIndex,
  type ScheduleIndexOptions,
  type ScheduleIndexRow,
  type WarningLog,
} from './schedule-index/contract.ts'
export { type Dispatch, type DispatchOptions, dispatchDue, type Fetch } from './schedule-index/dispatch.ts'
export { createPostgresScheduleIndex } from './schedule-index/postgres.ts'
export {
  fromPgPool,
  type PgPool,
  type PostgresExecutor,
  type PostgresTransaction,
} from './schedule-index/postgres-executor.ts'
export { createSQLiteScheduleIndex, type SqliteDatabase } from './schedule-index/sqlite.ts'
export { type Dialect, scheduleIndexDdl } from './schedule-index/table.ts'
