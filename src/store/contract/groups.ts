/** Concurrency groups, in which one run at a time is open: which of them need a decision, and the moves that follow; the decision is `plan/overlap.ts`. */
import type { ConcurrencyGroup, GroupMove } from '../../plan/overlap.ts'

export interface GroupPage {
  /** Only these groups; absent means all. */
  readonly of?: readonly string[]
  /** How many groups at most. */
  readonly limit: number
}

export interface GroupScan {
  readonly now: number
  readonly groups: readonly ConcurrencyGroup[]
  /** True when no run waits in any group: the next scan can wait for new runs. Absent when only some groups were scanned. */
  readonly empty?: boolean
}

export interface GroupStore {
  /**
   * Concurrency groups in which none is open though a run is due within OPEN_AHEAD_MS, or in which a closed run has come due. Each with
   * its open run and the first hundred that are not ready, in nominal order (`scheduledAt`, or `dueAt` where there is none,
   * then id).
   */
  look(page: GroupPage): Promise<GroupScan>
  /**
   * Each group's moves wholly or not at all; those of a concurrency group that has changed meanwhile so that they do not apply are left
   * undone, silently: the next look sees it as it is. Never are two runs of one group open.
   * `open` and `wait` change the readiness of a run that is not open. `skip` deletes a pending run that never began while the one
   * it comes behind is still there, with the record
   * `skipped: overlap` (detail: the run it came behind), which grows the record before it where that says the same;
   * it stays among those `made`, so that `maxRuns` counts it. `cancel`
   * is `runs.cancel` by `overlap`: it marks a run that a worker holds, and ends any other.
   */
  apply(moves: readonly (readonly GroupMove[])[]): Promise<void>
}
