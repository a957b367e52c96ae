/** Runs made by hand and what operators do to runs; planned runs come from planning, execution is claims. */
import type { Json } from '../../json.ts'
import type { Overlap, RunPolicy, ScheduleRef, Trigger } from '../../run/run.ts'
import type { Executor } from './executor.ts'

export interface NewRun {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly queue: string
  readonly trigger: Extract<Trigger, 'enqueue' | 'manual' | 'backfill'>
  readonly priority: number
  readonly payload: Json
  readonly policy: RunPolicy
  readonly schedule: ScheduleRef | null
  /** The occurrence a backfill makes good; null for all others. */
  readonly slot: { readonly scheduledAt: number; readonly slotStartAt: number | null } | null
  /** Its run is ready when it is due within OPEN_AHEAD_MS and no other run of the group is open or earlier in line; otherwise it waits. */
  readonly group: string | null
  readonly overlap: Overlap
  /** Due this long after now by the database's clock, or at an instant. */
  readonly due: { readonly delayMs: number } | { readonly at: number }
  /** A second enqueue with the same key in the same workspace, while the first is remembered, adds nothing. */
  readonly idempotencyKey: string | null
}

export interface Enqueued {
  /** The run that exists now: the new one, or the one the idempotency key already stands for. */
  readonly id: string
  readonly created: boolean
}

/** `live`: pending or running, and left as it is. */
export type RemoveAnswer = 'removed' | 'live' | 'not_found'

export type CancelAnswer = 'cancelled' | 'cancelling' | 'finished' | 'not_found'

export interface RunStore {
  /**
   * All or none, in the order of the input; two with the same idempotency key in one call become one run. One that is
   * live under its id is not made again, nor one with a slot that has ended: a backfill names its runs so that a repetition
   * is none.
   */
  enqueue(runs: readonly NewRun[], tx?: Executor): Promise<Enqueued[]>
  /**
   * A pending run, and one that was handed over, ends as cancelled at once; one that a worker holds is marked, and the
   * worker told at the next renewal.
   */
  cancel(id: string, by: string): Promise<CancelAnswer>
  /**
   * Brings failed runs back as pending, due now, with a new series of attempts and a journal entry; answers the ids moved.
   * One with a concurrency group then waits in it (`queue`), whatever its policy was: somebody asked for it.
   */
  retry(ids: readonly string[], by: string): Promise<string[]>
  /**
   * Deletes a finished run with its journal and its log, in one transaction. Where it answered for an occurrence it leaves a record
   * that goes on answering for it: `slots` lists it, no plan and no backfill makes it again, and retention forgets it like the journal.
   */
  remove(id: string, by: string): Promise<RemoveAnswer>
}
