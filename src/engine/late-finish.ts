/** Hands in what a handler returned after its attempt had ended, by its timeout or otherwise: the store refuses it and journals it, and nothing else follows. */
import type { Fact } from '../observe/fact.ts'
import type { Verdict } from '../run/settle.ts'
import { Held } from './grants.ts'
import type { Settler } from './settler.ts'
import type { UnderWay } from './under-way.ts'

export interface LateFinish {
  /** The work of an attempt that has ended is done after all. */
  add(held: Held, verdict: Verdict): void
  /** The verdict that ended this attempt is written, or refused. */
  settled(held: Held): void
}

export interface LateFinishOptions {
  readonly settler: Settler
  readonly underWay: UnderWay
  readonly onFact: (fact: Fact) => void
}

export function createLateFinish({ settler, underWay, onFact }: LateFinishOptions): LateFinish {
  /** In one batch with the verdict that ended the attempt, the late one might be the one that counts. So it waits. */
  const waiting = new Map<Held, Verdict>()

  const refused = ({ run }: Held): void => {
    underWay.end()
    onFact({ kind: 'run.refused', run })
  }

  const write = ({ run, leaseEndsAt }: Held, verdict: Verdict): void => {
    const late = new Held(run, leaseEndsAt)
    late.verdict = verdict
    late.onSettled = refused
    settler.add(late)
  }

  return {
    add(held, verdict) {
      underWay.begin()
      const isSettled = held.place < 0
      if (isSettled) write(held, verdict)
      else waiting.set(held, verdict)
    },
    settled(held) {
      const verdict = waiting.get(held)
      if (!verdict) return
      waiting.delete(held)
      write(held, verdict)
    },
  }
}
