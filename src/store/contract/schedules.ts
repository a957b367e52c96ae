/** Schedules as rows: who may be planned and how; which occurrences they have is planning, and every change here retracts old plans. */
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
}

export interface PutAnswer {
  readonly id: string
  readonly created: boolean
  readonly changed: boolean
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

export interface ScheduleStore {
  /**
   * Creates, changes or leaves alone, by (workspace, key). A change, in one transaction: locks the schedule, raises its
   * revision, deletes its pending runs whose `scheduledAt` is still to come, takes the watermark back to now at most, and sets the
   * cursor: to `nextAt` when the timing changed, otherwise back to the first run it deleted. A pause and the
   * existing quarantine: a pause stays, a quarantine is lifted by a change. Answers in the order of the input;
   * one (workspace, key) twice in one call is refused.
   */
  put(schedules: readonly PutSchedule[], tx?: Executor): Promise<PutAnswer[]>
  get(workspace: string, key: string): Promise<Schedule | null>
  list(page: SchedulePage): Promise<Schedule[]>
  /**
   * Parks the cursor, at the end of the pause where it has one, and retracts as `put` does. Answers false when there is
   * no such schedule. Pausing twice keeps the newer words.
   */
  pause(workspace: string, key: string, pause: Omit<Pause, 'at'>, tx?: Executor): Promise<boolean>
  /**
   * Lifts the pause, sets the cursor and records what was passed over meanwhile. Answers false, and writes nothing, when
   * there is no such schedule, or it is not paused, or its revision is not `revision`.
   */
  resume(workspace: string, key: string, change: Resume, tx?: Executor): Promise<boolean>
  /** Deletes the schedule and its pending runs still to come; runs already due or running go on. */
  remove(workspace: string, key: string, tx?: Executor): Promise<boolean>
  /** The same for a whole workspace; answers how many schedules were removed. */
  removeWorkspace(workspace: string, tx?: Executor): Promise<number>
}

export interface Resume {
  readonly revision: number
  readonly nextAt: number | null
  readonly watermarkAt: number
  readonly nonRuns: readonly NonRun[]
}
