/** What follows when a run ends in this process: frees its concurrency group, continues its backfill, checks whether its schedule failed too often. */
import type { Run } from '../run/run.ts'
import type { Verdict } from '../run/settle.ts'

export interface EndingsOptions {
  readonly freed: (group: string) => void
  readonly backfillEnded: () => void
  /** `pauseSchedule` is the reason to pause its schedule now, if any. */
  readonly failed: (run: Run, pauseSchedule: string | undefined) => void
}

/** Called with every verdict, including those of the reaper. */
export type Endings = (run: Run, verdict: Verdict) => void

export function createEndings({ freed, backfillEnded, failed }: EndingsOptions): Endings {
  return (run, verdict) => {
    if (verdict.kind !== 'final') return
    if (run.group !== null) freed(run.group)
    if (run.trigger === 'backfill') backfillEnded()
    if (verdict.state === 'failed') failed(run, verdict.pauseSchedule)
  }
}
