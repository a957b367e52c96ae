/** What follows when a run has ended in this process: its group is free, its backfill goes on, and its schedule may have failed too often. */
import type { Run } from '../run/run.ts'
import type { Verdict } from '../run/settle.ts'

export interface EndingsOptions {
  readonly freed: (group: string) => void
  readonly backfillEnded: () => void
  /** With the reason for which its schedule is to be paused now, where there is one. */
  readonly failed: (run: Run, pauseSchedule: string | undefined) => void
}

/** Told of every final verdict, the reaper's too. */
export type Endings = (run: Run, verdict: Verdict) => void

export function createEndings({ freed, backfillEnded, failed }: EndingsOptions): Endings {
  return (run, verdict) => {
    if (verdict.kind !== 'final') return
    if (run.group !== null) freed(run.group)
    if (run.trigger === 'backfill') backfillEnded()
    if (verdict.state === 'failed') failed(run, verdict.pauseSchedule)
  }
}
