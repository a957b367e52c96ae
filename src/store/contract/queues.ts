/** Queues as rows: what all processes together may do in each, and whether it rests; granting within that is `claims.ts`. */
import type { QueueLimits } from '../../run/queue-limits.ts'

export interface QueueRow {
  readonly name: string
  readonly limits: QueueLimits
  readonly pause: { readonly reason: string; readonly by: string; readonly at: number } | null
  /** Runs that are due, in words of at most: counted up to 10,000. */
  readonly ready: number
  readonly running: number
  /** The due instant of the run that waits longest; null when none is due. */
  readonly oldestDueAt: number | null
}

export interface QueueStore {
  /** Sets the limits of these queues; a pause stays. */
  configure(queues: readonly { readonly name: string; readonly limits: QueueLimits }[]): Promise<void>
  /** Nothing of it is granted from now on; what runs goes on. A queue that nobody named before may be paused too. */
  pause(name: string, words: { readonly reason: string; readonly by: string }): Promise<void>
  /** Answers whether it was paused. */
  resume(name: string): Promise<boolean>
  /** Those that were configured or paused, and those with live runs, by name. */
  list(): Promise<QueueRow[]>
}
