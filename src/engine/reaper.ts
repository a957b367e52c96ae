/** Finds runs whose lease ended without a word and settles them as lost, or as timed out where they were handed over; the fence keeps a late worker from settling them too. */
import type { EngineEvent } from '../observe/engine-event.ts'
import { type Outcome, settle } from '../run/settle.ts'
import type { ClaimStore, ExpiredRun } from '../store/contract/claims.ts'
import type { Endings } from './endings.ts'
import type { Leadership } from './leadership.ts'
import { report } from './report.ts'

const BATCH = 500
/** What a killed worker held waits for its lease and then for this look, together less than ten seconds: docs/decisions/0033. */
const POLL_MS = 500

/** Nobody's heart stopped where nobody was at work: whoever should have completed it did not. */
const NOT_COMPLETED: Outcome = {
  kind: 'timed_out',
  error: {
    name: 'EverytickError',
    message: 'the run was handed over and was not completed in time',
    code: 'RUN_TIMEOUT',
  },
}

const outcomeOf = ({ workerId, hasBegun }: ExpiredRun): Outcome => {
  if (workerId === null) return NOT_COMPLETED
  return hasBegun ? { kind: 'lost' } : { kind: 'not_begun' }
}

export interface ReaperOptions {
  readonly claims: ClaimStore
  readonly leadership: Leadership
  readonly workerId: string
  readonly random: () => number
  readonly onEnd: Endings
  readonly onEvent: (fact: EngineEvent) => void
}

export function createReaper(options: ReaperOptions): { pass(): Promise<number> } {
  const { claims, leadership, workerId, random, onEnd, onEvent } = options

  const reap = async (runs: readonly ExpiredRun[]): Promise<void> => {
    const verdicts = runs.map((run) => settle(run, outcomeOf(run), random()))
    const answers = await claims.settle(
      runs.map(({ id, fence, claimId }, i) => ({
        id,
        fence,
        claimId,
        workerId,
        onlyExpired: true,
        verdict: verdicts[i]!,
      })),
    )
    for (const [i, run] of runs.entries()) {
      // Refused means that somebody was quicker, and has told it.
      if (answers[i] !== 'accepted') continue
      const verdict = verdicts[i]!
      onEnd(run, verdict)
      report(run, { verdict, answer: 'accepted', durationMs: run.leaseUntil! - run.startedAt!, onEvent })
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
