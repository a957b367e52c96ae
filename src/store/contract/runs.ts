/** Runs made by hand and what operators do to runs; planned runs come from planning, execution is claims. */
import type { Json } from '../../json.ts'
import type { RunPolicy, ScheduleRef, Trigger } from '../../run/run.ts'
import type { Executor } from './executor.ts'

export interface NewRun {
  readonly id: string
  readonly workspace: string
  readonly job: string
  readonly queue: string
  readonly trigger: Extract<Trigger, 'enqueue' | 'manual'>
  readonly priority: number
  readonly payload: Json
  readonly policy: RunPolicy
  readonly schedule: ScheduleRef | null
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

export type CancelAnswer = 'cancelled' | 'cancelling' | 'finished' | 'not_found'

export interface RunStore {
  /** All or none, in the order of the input; two with the same idempotency key in one call become one run. */
  enqueue(runs: readonly NewRun[], tx?: Executor): Promise<Enqueued[]>
  /** A pending run ends as cancelled at once; a running one is marked, and its worker told at the next renewal. */
  cancel(id: string, by: string): Promise<CancelAnswer>
  /** Brings failed runs back as pending, due now, with a new series of attempts and a journal entry; answers the ids moved. */
  redrive(ids: readonly string[], by: string): Promise<string[]>
}
