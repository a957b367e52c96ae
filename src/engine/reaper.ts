/** Finds runs whose lease ended without a word and settles them as lost; the fence keeps a late worker from settling them too. */
import type { Fact } from '../observe/fact.ts'
import type { Run } from '../run/run.ts'
import { settle } from '../run/settle.ts'
import type { ClaimStore } from '../store/contract/claims.ts'
import type { Endings } from './endings.ts'
import type { Leadership } from './leadership.ts'
import { report } from './report.ts'

const BATCH = 500
/** A lease lasts several times as long, and nobody waits for its end as they wait for a run that is due. */
const POLL_MS = 2000

export interface ReaperOptions {
  readonly claims: ClaimStore
  readonly leadership: Leadership
  readonly workerId: string
  readonly random: () => number
  readonly onEnd: Endings
  readonly onFact: (fact: Fact) => void
}

export function createReaper(options: ReaperOptions): { pass(): Promise<number> } {
  const { claims, leadership, workerId, random, onEnd, onFact } = options

  const reap = async (runs: readonly Run[]): Promise<void> => {
    const verdicts = runs.map((run) => settle(run, { kind: 'lost' }, random()))
    const answers = await claims.settle(
      runs.map(({ id, fence }, i) => ({ id, fence, workerId, onlyExpired: true, verdict: verdicts[i]! })),
    )
    for (const [i, run] of runs.entries()) {
      // Refused means that somebody was quicker, and has told it.
      if (answers[i] !== 'accepted') continue
      const verdict = verdicts[i]!
      onEnd(run, verdict)
      report(run, { verdict, answer: 'accepted', durationMs: run.leaseUntil! - run.startedAt!, onFact })
    }
  }

  return {
    async pass() {
      for (;;) {
        const runs = await claims.expired(BATCH)
        // Most of the time there is none, and a lease is a write. So everybody looks, and the lease of one that died is
        // nothing to wait for.
        if (runs.length === 0 || !(await leadership.leads())) return POLL_MS
        await reap(runs)
        if (runs.length < BATCH) return POLL_MS
      }
    },
  }
}
