/** What has happened, in the order of the database's clock, read from the rows that are there anyway; nothing is written for the sake of being told. */
import type { RunState } from '../../run/state.ts'
import type { JournalKind } from './history.ts'

interface Happened {
  readonly at: number
  /** With the kind and `at`, unlike any other. */
  readonly id: string
  /** The empty text when it concerns the whole fleet. */
  readonly workspace: string
}

export type FeedEntry =
  | (Happened & {
      readonly kind: 'run'
      readonly state: Exclude<RunState, 'pending' | 'running'>
      readonly job: string
      readonly queue: string
      readonly schedule: { readonly id: string; readonly key: string } | null
      readonly attempt: number
      readonly dueAt: number
      readonly startedAt: number | null
      /** Name and first 200 characters of the message; null when it did not fail. */
      readonly error: { readonly name: string; readonly message: string } | null
    })
  | (Happened & {
      readonly kind: 'journal'
      readonly entry: JournalKind
      readonly runId: string | null
      readonly scheduleId: string | null
    })
  | (Happened & {
      readonly kind: 'revision'
      readonly change: 'edited' | 'paused' | 'resumed' | 'removed'
      readonly scheduleId: string
      readonly key: string
      readonly revision: number
      readonly by: string
    })
  | (Happened & {
      readonly kind: 'non_run'
      readonly state: 'skipped' | 'missed'
      readonly scheduleId: string
      readonly reason: string
      readonly count: number
    })
  | (Happened & { readonly kind: 'alert'; readonly alertId: string; readonly state: string })
  | (Happened & {
      readonly kind: 'audit'
      readonly action: string
      readonly target: string
      readonly actor: string
      readonly seq: number
      readonly hash: string
    })

export interface FeedStore {
  /**
   * What happened after one instant and not after another, oldest first, at most `limit`; what commits late may appear in a
   * span that was read before, so that whoever follows reads the last seconds twice. Costs what it answers, not what is stored.
   * The workspace of a journal entry or a non-run is that of its run or schedule, where that is still known.
   */
  between(
    span: { readonly afterAt: number; readonly untilAt: number },
    page: { readonly limit: number; readonly workspace?: string },
  ): Promise<FeedEntry[]>
}
