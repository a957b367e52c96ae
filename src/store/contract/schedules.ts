/** Schedules as rows: who may be planned and how; which occurrences they have is planning, and every change here retracts old plans. */
import type { TimingClass } from '../../observe/timing-class.ts'
import type { NonRun } from '../../plan/non-run.ts'
import type { Pause, Schedule, ScheduleDefinition } from '../../schedule/schedule.ts'
import type { Executor } from './executor.ts'

export interface PutSchedule {
  /** Used when the schedule is new. */
  readonly id: string
  readonly definition: ScheduleDefinition
  /** The first occurrence of this timing; used when the schedule is new or its timing changes. */
  readonly nextAt: number | null
  /** Occurrences at or before this are none of this timing's. */
  readonly watermarkAt: number
  /**
   * The revision that the caller saw, all of whose occurrences up to `watermarkAt` it has accounted for; null when it saw
   * none. Only with it is a schedule that exists changed, and only without it is one made that does not: it `differs` then, at
   * revision 0.
   */
  readonly from: number | null
  /** Who asks for it. */
  readonly by: string
  /** Used when the schedule is new: it is paused by the transaction that creates it, as `pause` does. */
  readonly pause?: Omit<Pause, 'at'> | null
}

export interface PutAnswer {
  readonly id: string
  readonly created: boolean
  readonly changed: boolean
  /** It exists, is otherwise, and was left so, because `from` is not its revision: look, account for the past, come again. */
  readonly differs: boolean
  readonly revision: number
  readonly nextAt: number | null
}

export interface SchedulePage {
  readonly workspace?: string
  /** Only those that this owner put, such as `code`. */
  readonly source?: string
  readonly limit: number
  /** The last schedule of the page before: pages run in order of (workspace, key). */
  readonly after?: { readonly workspace: string; readonly key: string }
}

/** Which schedules people look for; everything that is named must hold. */
export interface ScheduleFilter {
  readonly workspace?: string
  readonly job?: string
  readonly tag?: string
  readonly source?: 'api' | 'code'
  /** Whether it is paused. */
  readonly paused?: boolean
  readonly quarantined?: boolean
  /** Whose cursor is this far behind the clock. */
  readonly overdueMs?: number
  /** Text in the key, whatever the case of its letters from a to z. */
  readonly text?: string
}

export interface FindPage {
  readonly limit: number
  readonly after?: { readonly workspace: string; readonly key: string }
  /** The page ends before the stored content of its schedules exceeds this; it has one at least. No bound when absent. */
  readonly maxBytes?: number
  /** Their payloads are not read: null in what is answered. */
  readonly omitPayload?: boolean
}

export interface ScheduleStore {
  byId(id: string): Promise<Schedule | null>
  /**
   * In order of (workspace, key). Looks at a bounded number of rows, so that a page may be short or empty although there are
   * more: then `next` says where to go on; null when there is nothing more.
   */
  find(
    filter: ScheduleFilter,
    page: FindPage,
  ): Promise<{
    readonly schedules: Schedule[]
    readonly next: { readonly workspace: string; readonly key: string } | null
  }>
  /**
   * All schedules that may fire (neither paused nor quarantined), by what decides their coming occurrences: one pass over
   * the table. Intervals whose anchors fall into the same minute of their period count as alike, and so do instants of one minute.
   */
  classes(workspace?: string): Promise<TimingClass[]>
  /**
   * Creates, changes or leaves alone, by (workspace, key). A change, in one transaction: locks the schedule, raises its
   * revision, deletes the pending runs of its plans that never began and are due after now (and takes them off those `made`), writes a
   * revision, lifts a quarantine; a pause stays. The watermark goes back to now at most, and to just before the first run it
   * deleted; but where the timing changed not below `watermarkAt`: what was deleted at or below that is then recorded as
   * `skipped: edited`. The cursor goes to `nextAt` when the timing changed, a quarantine was lifted or there was no cursor,
   * otherwise back to the first run it deleted; that of a paused schedule stays at the end of its pause. Answers in the
   * order of the input; one (workspace, key) twice in one call is refused. When any of them `differs`, none is written;
   * inside a transaction of the caller's the others may be.
   */
  put(schedules: readonly PutSchedule[], tx?: Executor): Promise<PutAnswer[]>
  /** Inside a transaction it is locked too: whoever reads it there is about to change it. */
  get(workspace: string, key: string, tx?: Executor): Promise<Schedule | null>
  list(page: SchedulePage): Promise<Schedule[]>
  /**
   * Parks the cursor, at the end of the pause where it has one, and retracts as `put` does. Answers false when there is
   * no such schedule. Pausing twice keeps the newer words. A revision, as is every change here.
   */
  pause(workspace: string, key: string, pause: Omit<Pause, 'at'>, tx?: Executor): Promise<boolean>
  /**
   * Lifts the pause, sets the cursor and records what was passed over meanwhile. Answers false, and writes nothing, when
   * there is no such schedule, or it is not paused, or its revision is not `revision`.
   */
  resume(workspace: string, key: string, change: Resume, tx?: Executor): Promise<boolean>
  /** Deletes the schedule and its pending runs still to come; runs already due or running go on. */
  remove(workspace: string, key: string, by: string, tx?: Executor): Promise<boolean>
  /** The same for a whole workspace; answers how many schedules were removed. */
  removeWorkspace(workspace: string, by: string, tx?: Executor): Promise<number>
}

export interface Resume {
  readonly revision: number
  /** Where it is given, and the watermark is another, it is refused like another revision. */
  readonly expectedWatermarkAt?: number
  readonly nextAt: number | null
  readonly watermarkAt: number
  readonly nonRuns: readonly NonRun[]
  readonly by: string
}
