/** `app.cleanup()`: applies retention on demand, in the bounded steps of the janitor; the store decides what is overdue. */
import { shown } from '../errors.ts'
import { checkKeys, readBoolean, readInteger, refused } from '../options.ts'
import type { Forgotten, ForgottenCounts, Retention } from '../store/contract/upkeep.ts'
import { formatDuration } from '../time/duration.ts'
import type { Core } from './core.ts'
import { type RetentionOptions, readRetention } from './settings.ts'

export interface CleanupOptions {
  /** Counts what would be deleted, and deletes nothing. */
  readonly dryRun?: boolean
  /** Overrides the retention of the app, option by option. */
  readonly retention?: RetentionOptions
  /** The most steps to take; as many as needed when absent. */
  readonly steps?: number
  readonly onProgress?: (progress: { readonly removed: number }) => void
}

export interface CleanupReport {
  readonly dryRun: boolean
  /** Rows that were deleted, or would be. */
  readonly removed: number
  /** `removed` by kind of row, without kinds that have none. */
  readonly counts: ForgottenCounts
  /** Whether there is more to delete: the step limit was reached, or another process held the rows. */
  readonly more: boolean
  /** The retention that was applied. */
  readonly retention: RetentionText
}

export type RetentionText = Readonly<Record<keyof RetentionOptions, string>>

const MAX_STEPS = 1_000_000

export async function cleanup({ settings, store }: Core, options: CleanupOptions = {}): Promise<CleanupReport> {
  checkKeys(options, ['dryRun', 'retention', 'steps', 'onProgress'], 'cleanup()')
  const { onProgress } = options
  const dryRun = readBoolean(options.dryRun ?? false, 'dryRun')
  const steps = options.steps === undefined ? MAX_STEPS : readInteger(options.steps, 'steps', [1, MAX_STEPS])
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw refused(`onProgress must be a function, not ${shown(onProgress)}`)
  }
  const retention = readRetention({ ...retentionText(settings.retention), ...named(options.retention) })
  const { upkeep } = await store()
  const about = { dryRun, retention: retentionText(retention) }
  if (dryRun) {
    const counts = await upkeep.overdue(retention)
    return { ...about, counts, removed: sumOf(counts), more: false }
  }
  const counts: Partial<Record<Forgotten, number>> = {}
  let removed = 0
  for (let step = 1; ; step++) {
    const tidied = await upkeep.tidy(retention)
    for (const [kind, rows] of Object.entries(tidied.counts) as [Forgotten, number][])
      counts[kind] = (counts[kind] ?? 0) + rows
    removed += tidied.removed
    onProgress?.({ removed })
    if (!tidied.more || step === steps) return { ...about, counts, removed, more: tidied.more }
  }
}

/** Drops options that are undefined. */
const named = (retention: RetentionOptions = {}): RetentionOptions =>
  Object.fromEntries(Object.entries(retention).filter(([, value]) => value !== undefined))

const sumOf = (counts: ForgottenCounts): number => Object.values(counts).reduce((sum, rows) => sum + rows, 0)

/** Formats retention as its options are written. */
export const retentionText = ({
  historyMs,
  journalMs,
  idempotencyMs,
  orphansMs,
  endedMs,
}: Retention): RetentionText => ({
  history: formatDuration(historyMs),
  journal: formatDuration(journalMs),
  idempotency: formatDuration(idempotencyMs),
  orphans: formatDuration(orphansMs),
  endedSchedules: endedMs === null ? 'off' : formatDuration(endedMs),
})
