/** Sums over what has ended, by stretches of five minutes, so that a day is a few hundred rows however many runs it had; made from history afterwards, never by the working path. */
import type { Counted } from '../../observe/histogram.ts'

export const STATS_BUCKET_MS = 300_000

/** Upper bounds in milliseconds of the classes that lateness and durations are counted in; the last class has none. */
export const LATENESS_BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 15_000, 60_000, 300_000] as const
export const DURATION_BOUNDS = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000,
] as const

/** All of it, or what one workspace, job or queue has of it. */
export type StatsScope = 'all' | `workspace:${string}` | `job:${string}` | `queue:${string}`

/** Of one stretch. */
export interface Stats extends Counted {
  /** Start of the stretch. */
  readonly at: number
}

export interface Sizes {
  readonly schedules: number
  readonly paused: number
  readonly quarantined: number
  readonly liveRuns: number
  readonly finishedRuns: number
  /** Whether large numbers are the database's own estimates. */
  readonly estimated: boolean
}

export interface StatsStore {
  /**
   * Sums up the stretches that are over (by more than 10 seconds) and were not summed up yet, one bounded step; safe to do
   * twice, also at once. Answers up to when all is summed up, and whether another step would find work.
   */
  roll(): Promise<{ readonly untilAt: number; readonly more: boolean }>
  /** Stretches that begin within the span and have anything, oldest first; the ones not yet summed up are summed up on the fly. */
  read(scope: StatsScope, span: { readonly fromAt: number; readonly toAt: number }): Promise<Stats[]>
  /** Of the whole fleet or of one workspace; quick at any size. */
  sizes(workspace?: string): Promise<Sizes>
}
