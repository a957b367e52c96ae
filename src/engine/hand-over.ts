/** Leaves runs to somebody outside, in groups, and asks a dead database again while the lease holds; what is then to be done with the slot is the attempt's. */
import { isSameClaim } from '../run/run.ts'
import type { ClaimStore } from '../store/contract/claims.ts'
import type { HistoryStore } from '../store/contract/history.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import type { LeasedRun } from './leased-runs.ts'

/** `cancelling`: it is still ours, and an operator wants it to end. */
export type HandOverAnswer = 'handed_over' | 'cancelling' | 'refused'

export interface HandingOver {
  /** Calls back once. */
  add(leased: LeasedRun, waitMs: number, answered: (leased: LeasedRun, answer: HandOverAnswer) => void): void
  /** Forgets what is waiting, as a crash would. */
  crash(): void
}

export interface HandOverOptions {
  readonly claims: ClaimStore
  readonly history: HistoryStore
  readonly clock: Clock
  readonly timers: Timers
  readonly onError: (error: unknown, retryInMs: number) => void
  /** A group was written after one had failed. */
  readonly onRecovery?: () => void
}

interface Leaving {
  readonly leased: LeasedRun
  readonly waitMs: number
  readonly answered: (leased: LeasedRun, answer: HandOverAnswer) => void
}

const RETRY_MS = 200

export function createHandOver({ claims, history, clock, timers, onError, onRecovery }: HandOverOptions): HandingOver {
  let waiting: Leaving[] = []
  let working = false
  let crashed = false
  /** Whether the last write failed. */
  let isFailing = false

  const answer = ({ leased, answered }: Leaving, what: HandOverAnswer): void => answered(leased, what)

  /** It may have been completed before we came to say that we leave it: then all is well. */
  const refusedOf = async ({ leased }: Leaving): Promise<HandOverAnswer> => {
    const run = await history.run(leased.run.id)
    if (run === null || !isSameClaim(run, leased.run)) return 'refused'
    if (run.state === 'running') return run.cancelRequested ? 'cancelling' : 'refused'
    return leased.leaseEndsAt > clock.elapsed() ? 'handed_over' : 'refused'
  }

  const write = async (group: readonly Leaving[], waitMs: number): Promise<void> => {
    const answers = await claims.handOver(
      group.map(({ leased: { run } }) => ({ id: run.id, fence: run.fence, claimId: run.claimId })),
      waitMs,
    )
    const found: HandOverAnswer[] = []
    for (const [i, one] of group.entries()) found.push(answers[i] === 'accepted' ? 'handed_over' : await refusedOf(one))
    // Only now: nobody may be told twice.
    for (const [i, one] of group.entries()) answer(one, found[i]!)
  }

  /** What could not be written waits for the next round, unless its lease is over: then it may be another's. */
  const putOff = (group: readonly Leaving[]): void => {
    for (const one of group) {
      if (one.leased.leaseEndsAt > clock.elapsed()) waiting.push(one)
      else answer(one, 'refused')
    }
  }

  const drain = async (): Promise<void> => {
    while (waiting.length > 0 && !crashed) {
      const groups = new Map<number, Leaving[]>()
      for (const one of waiting) groups.set(one.waitMs, [...(groups.get(one.waitMs) ?? []), one])
      waiting = []
      let failed = false
      for (const [waitMs, group] of groups) {
        try {
          await write(group, waitMs)
          if (isFailing) onRecovery?.()
          isFailing = false
        } catch (error) {
          failed = true
          isFailing = true
          onError(error, RETRY_MS)
          putOff(group)
        }
      }
      if (failed && waiting.length > 0) await new Promise<void>((resolve) => timers.set(RETRY_MS, resolve))
    }
    working = false
  }

  return {
    add(leased, waitMs, answered) {
      if (crashed) return
      leased.leaving = true
      waiting.push({ leased, waitMs, answered })
      if (working) return
      working = true
      // The next microtask gathers everything that ends in this turn.
      void Promise.resolve().then(drain)
    },
    crash() {
      crashed = true
      waiting = []
    },
  }
}
