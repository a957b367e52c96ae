/** Queues as rows: what all processes together may do in each, and whether it rests; claiming within that is `claims.ts`. */
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

export interface SweptQueue extends QueueRow {
  /** Whether a process or a person named it; otherwise only runs do. */
  readonly configured: boolean
  /** Of one of the runs that wait in it; null when none does. */
  readonly workspace: string | null
}

export interface QueueSweep {
  /** Queues that only runs name are looked for behind this name, so many of them. */
  readonly after: string
  readonly limit: number
  /** Queues that are wanted wherever they stand. */
  readonly names: readonly string[]
}

export interface QueueStore {
  /** Sets the limits of these queues; a pause stays. */
  configure(queues: readonly { readonly name: string; readonly limits: QueueLimits }[]): Promise<void>
  /** Nothing of it is claimed from now on; what runs goes on. A queue that nobody named before may be paused too. */
  pause(name: string, words: { readonly reason: string; readonly by: string }): Promise<void>
  /** Answers whether it was paused. */
  resume(name: string): Promise<boolean>
  /** Those that were configured or paused, and those with live runs, by name. */
  list(): Promise<QueueRow[]>
  /**
   * A bounded part of the same, by name, however many queues runs name: those that were configured or paused, those with running
   * runs, those that are wanted, and the next ones in which runs may start. `next` is behind which name the next sweep goes on;
   * null at the end.
   */
  sweep(of: QueueSweep): Promise<{ readonly rows: SweptQueue[]; readonly next: string | null }>
}
