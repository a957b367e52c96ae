/** Hands in what a handler returned after its attempt had ended, by its timeout or otherwise: the store refuses it and journals it, and nothing else follows. */
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Verdict } from '../run/settle.ts'
import { LeasedRun } from './leased-runs.ts'
import type { Settler } from './settler.ts'
import type { UnderWay } from './under-way.ts'

export interface LateFinish {
  /** The work of an attempt that has ended is done after all. */
  add(leased: LeasedRun, verdict: Verdict): void
  /** The verdict that ended this attempt is written, or refused. */
  settled(leased: LeasedRun): void
}

export interface LateFinishOptions {
  readonly settler: Settler
  readonly underWay: UnderWay
  readonly onEvent: (fact: EngineEvent) => void
}

export function createLateFinish({ settler, underWay, onEvent }: LateFinishOptions): LateFinish {
  /** In one batch with the verdict that ended the attempt, the late one might be the one that counts. So it waits. */
  const waiting = new Map<LeasedRun, Verdict>()

  const refused = ({ run }: LeasedRun): void => {
    underWay.end()
    onEvent({ kind: 'run.refused', run })
  }

  const write = ({ run, leaseEndsAt }: LeasedRun, verdict: Verdict): void => {
    const late = new LeasedRun(run, leaseEndsAt)
    late.verdict = verdict
    late.onSettled = refused
    settler.add(late)
  }

  return {
    add(leased, verdict) {
      underWay.begin()
      const isSettled = leased.place < 0
      if (isSettled) write(leased, verdict)
      else waiting.set(leased, verdict)
    },
    settled(leased) {
      const verdict = waiting.get(leased)
      if (!verdict) return
      waiting.delete(leased)
      write(leased, verdict)
    },
  }
}
