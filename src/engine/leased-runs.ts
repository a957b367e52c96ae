/** The runs that this worker has claimed and not returned, with the local end of each lease; renewal and execution are separate files. */
import type { Progress, Run } from '../run/run.ts'
import type { Outcome, Verdict } from '../run/settle.ts'
import type { AheadClaim } from './begun.ts'

/** Whether a verdict counted: it does not when the lease was another's by then. */
export type SettleAnswer = 'accepted' | 'refused'

/** Why the work was told to stop. */
export type StopReason = 'lease_lost' | 'cancelled' | 'timed_out' | 'stopping'

/**
 * One claim. It has a life of its own: it is renewed, may be told to stop, and ends. What is to happen then are functions
 * that take the claim, so that those which do the same for every claim are made once.
 */
export class LeasedRun {
  readonly run: Run
  /** Local elapsed time after which the lease may be another worker's. */
  leaseEndsAt: number
  /** Local elapsed time at which its work began, and how long it took. */
  startedAt = 0
  tookMs = 0
  progress: Progress | null = null
  /** Its claim and its place in it, when the claim was made ahead. */
  ahead: { readonly claim: AheadClaim; readonly place: number } | null = null
  /** Whether its slot stays taken until its verdict is written. */
  staysInSlot = false
  /** What is to be written; once it is there the work is over, and there is nobody left to tell to stop. */
  verdict: Verdict | null = null
  /** Called when the verdict is written, or refused. */
  onSettled: ((leased: LeasedRun, answer: SettleAnswer) => void) | null = null
  /** Whether the work goes on elsewhere; stays so, as a verdict does, since a renewal may be in flight that does not find the claim any more. */
  leaving = false
  /** Set once: the first reason stays. */
  stopped: StopReason | null = null
  /** Called when the work is told to stop, by whoever carries it out. */
  onStop: ((leased: LeasedRun, reason: StopReason) => void) | null = null
  /** Ends the attempt at once, whether or not its work has ended; there while work that takes time goes on. */
  endAs: ((outcome: Outcome) => void) | null = null
  /** Where it stands among the claims; -1 when it is none any more. */
  place = -1
  #error: Error | null = null
  #abort: AbortController | null = null

  constructor(run: Run, leaseEndsAt: number) {
    this.run = run
    this.leaseEndsAt = leaseEndsAt
  }

  /** Made when first asked for, since most handlers never look at it. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#error) this.#abort.abort(this.#error)
    return this.#abort.signal
  }

  /** Answers whether this was the first reason. */
  stop(reason: StopReason, error: Error): boolean {
    if (this.stopped) return false
    this.stopped = reason
    this.#error = error
    this.#abort?.abort(error)
    this.onStop?.(this, reason)
    return true
  }
}

export interface LeasedRuns {
  add(run: Run, leaseEndsAt: number): LeasedRun
  remove(leased: LeasedRun): void
  all(): LeasedRun[]
  readonly size: number
}

export function createLeasedRuns(): LeasedRuns {
  /** In no order: the last takes the place of one that goes. */
  const all: LeasedRun[] = []
  return {
    add(run, leaseEndsAt) {
      const leased = new LeasedRun(run, leaseEndsAt)
      leased.place = all.push(leased) - 1
      return leased
    },
    remove(leased) {
      if (leased.place < 0) return
      const last = all.pop()!
      if (last !== leased) all[leased.place] = last
      last.place = leased.place
      leased.place = -1
    },
    all: () => all.slice(),
    get size() {
      return all.length
    },
  }
}
