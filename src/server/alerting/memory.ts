/** What a process remembers from one pass of the alerter to the next; without it a pass looks from the beginning, and is as right. */

/** A place in the order of schedules. */
export interface Place {
  readonly workspace: string
  readonly key: string
}

/** How long runs of a job take in one workspace, as it was read at an instant. */
export interface TypicalDuration {
  readonly medianMs: number
  readonly p95Ms: number
  readonly count: number
  readonly readAt: number
}

export interface Memory {
  /** In which order the rules of workspaces had their turns. */
  readonly turns: Map<string, number>
  /** Where searches for schedules ended, by their filter. */
  readonly sweeps: Map<string, Place>
  /** After which queue the next look at queues begins. */
  queue: string
  /** How long runs usually take, by workspace and job. */
  readonly typical: Map<string, TypicalDuration>
}

export const createMemory = (): Memory => ({ turns: new Map(), sweeps: new Map(), queue: '', typical: new Map() })
