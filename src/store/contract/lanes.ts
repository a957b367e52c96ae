/** Lanes, in which one run at a time is open: which of them need a decision, and the moves that follow; the decision is `plan/overlap.ts`. */
import type { Lane, LaneMove } from '../../plan/overlap.ts'

export interface LanePage {
  /** Only these lanes; absent means all. */
  readonly of?: readonly string[]
  /** How many lanes at most. */
  readonly limit: number
}

export interface LanesSeen {
  readonly now: number
  readonly lanes: readonly Lane[]
  /** Whether no run at all stands behind a gate, so that there is nothing to look for until new runs are told of; absent where nobody looked. */
  readonly empty?: boolean
}

export interface LaneStore {
  /**
   * Lanes in which none is open though a run is due within OPEN_AHEAD_MS, or in which a closed run has come due. Each with
   * its open run and the first hundred behind the gate, in nominal order (`scheduledAt`, or `dueAt` where there is none,
   * then id).
   */
  look(page: LanePage): Promise<LanesSeen>
  /**
   * Each lane's moves wholly or not at all; those of a lane that has changed meanwhile so that they do not apply are left
   * undone, silently: the next look sees it as it is. Never are two runs of one lane open.
   * `open` and `wait` move the gate of a run that is not open. `skip` deletes a pending run that never began while the one
   * it comes behind is still there, with the record
   * `skipped: overlap` (detail: the run it came behind), which grows the record before it where that says the same;
   * it stays among those `made`, so that `maxRuns` counts it. `cancel`
   * is `runs.cancel` by `overlap`: it marks a run that a worker holds, and ends any other.
   */
  apply(moves: readonly (readonly LaneMove[])[]): Promise<void>
}
