/** The cursor of every schedule: which are due, and the one transaction that turns occurrences into runs and moves it. */
import type { DueSchedule, Plan } from '../../plan/plan.ts'
import type { Shard } from '../../plan/shard.ts'
import type { Quarantine } from '../../schedule/schedule.ts'
import type { Executor } from './executor.ts'

/** What a look at what is due may ask for at the most. */
export const LONGEST_PAGE = 1000

export interface DuePage {
  /** The database's clock. */
  readonly now: number
  /** Ordered by cursor, at most `limit`, which is at most `LONGEST_PAGE`. */
  readonly schedules: readonly DueSchedule[]
  /** The earliest cursor beyond the horizon, when the page was not full; null when there is none. */
  readonly nextAt: number | null
}

export interface PlanningStore {
  /** How many batches of plans it pays to have in flight at once. */
  readonly recordsAtOnce: number
  /**
   * Schedules whose cursor is at most `lookaheadMs` away; quarantined ones, and those paused without an end, have none. Reads
   * only what is due. `except` names schedules to be passed over, because plans for them are being written. With a `shard`,
   * only the schedules of that shard; asked only of stores whose `recordsAtOnce` is above 1, because elsewhere a second planner
   * is no gain.
   */
  due(page: {
    readonly lookaheadMs: number
    readonly limit: number
    readonly except?: readonly string[]
    readonly shard?: Shard | null
  }): Promise<DuePage>
  /**
   * Each plan wholly or not at all, decided by its schedule alone: inserts its runs and non-runs, moves cursor and
   * watermark, and adds the runs to those `made`. The first run of a plan with a concurrency group is open when it is due within
   * OPEN_AHEAD_MS and there is no other run in that group, open or earlier in line; all others are closed. A non-run grows the record that ends at its `afterAt` and says the same, if there is one.
   * `stale` when the cursor no longer stands at `expectedNextAt`, or the watermark not at `expectedWatermarkAt`, or the revision differs, or the schedule is
   * gone: then nothing of it was written. A plan that `resumes` lifts the pause, which is a revision by `everytick`. A run
   * whose id exists, or whose occurrence is at or below the watermark, is not inserted again.
   */
  record(plans: readonly Plan[], tx?: Executor): Promise<('recorded' | 'stale')[]>
  /** Sets a schedule aside with a reason and a journal entry; a no-op when the cursor or the revision has moved on. */
  quarantine(schedule: Pick<DueSchedule, 'id' | 'revision' | 'nextAt'>, why: Omit<Quarantine, 'at'>): Promise<void>
}
