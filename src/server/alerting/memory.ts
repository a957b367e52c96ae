/** What a process remembers between passes of the alerter. It is an optimization: a pass without it starts from the beginning. */

/** A position in the order of schedules. */
export interface Place {
  readonly workspace: string
  readonly key: string
}

/** The typical duration of a job in one workspace, and when it was read. */
export interface TypicalDuration {
  readonly medianMs: number
  readonly p95Ms: number
  readonly count: number
  readonly readAt: number
}

export interface Memory {
  /** The order in which workspace rules had their turns. */
  readonly turns: Map<string, number>
  /** Where scans for schedules ended, by filter. */
  readonly sweeps: Map<string, Place>
  /** The queue after which the next scan of queues starts. */
  queue: string
  /** Typical durations, by workspace and job. */
  readonly typical: Map<string, TypicalDuration>
}

export const createMemory = (): Memory => ({ turns: new Map(), sweeps: new Map(), queue: '', typical: new Map() })
