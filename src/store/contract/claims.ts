/** Claims of runs to workers, and the fenced writes by which a worker keeps, returns or finishes what it was claimed. */
import type { Progress, Run } from '../../run/run.ts'
import type { Verdict } from '../../run/settle.ts'

export interface ClaimRequest {
  readonly workerId: string
  readonly leaseMs: number
  readonly wanted: readonly Wanted[]
}

/** How many runs of which queue are wanted. */
export interface Wanted {
  readonly queue: string
  readonly limit: number
  /**
   * How many of them the worker begins as soon as it has the answer; the store counts those as begun. All when absent. The others wait in the
   * worker until `renew` or `settle` reports them as begun.
   */
  readonly startable?: number
  /**
   * Instead of the oldest first, an equal share for each of several workspaces that have something due, so that one with
   * a long backlog does not hold up the others.
   */
  readonly fair?: boolean
  /** Workspaces have their turn in order, those after this one first; absent means from the beginning. */
  readonly lastWorkspace?: string
}

export interface Claimed {
  readonly now: number
  /** Each now `running`, with attempt and fence one higher, a new random claim id and a lease until now + leaseMs; in the order of the wanted queues, then by priority and dueAt. */
  readonly runs: readonly Run[]
  /** The earliest pending run still to come in the wanted queues; null when there is none. */
  readonly nextDueAt: number | null
  /** For each queue that was shared among workspaces, the last that had its turn. */
  readonly lastWorkspaces: Readonly<Record<string, string>>
}

/** A claimed run as its worker knows it. Every write of a worker names all three, and counts only when the run has them still. */
export interface ClaimedRun {
  readonly id: string
  readonly fence: number
  readonly claimId: string | null
}

export interface Renewal extends ClaimedRun {
  readonly progress: Progress | null
}

export interface Renewed {
  readonly now: number
  /** Claims that are no longer the worker's: settled, handed over, expired and claimed again, or deleted. */
  readonly lost: readonly string[]
  /** Claims whose run an operator wants cancelled. */
  readonly cancelling: readonly string[]
}

export interface Settlement extends ClaimedRun {
  readonly workerId: string
  readonly verdict: Verdict
  /** The reaper's condition: only when the lease has really ended by the database's clock. */
  readonly onlyExpired?: boolean
  readonly progress?: Progress | null
}

/**
 * How many runs of a claim have begun. The runs of one claim and queue begin in one order: by priority, then `dueAt`, then id.
 * `claimOrder` sorts them.
 */
export interface BegunCount {
  readonly claimId: string
  readonly count: number
}

export const claimOrder = (a: Run, b: Run): number =>
  b.priority - a.priority || a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1)

export interface ExpiredRun extends Run {
  /** False when its worker claimed it ahead and is not known to have begun it. */
  readonly hasBegun: boolean
}

export interface ClaimStore {
  /**
   * Never claims one run to two; only what is due by the database's clock, and that are ready. Nothing of a paused
   * queue. Of a queue with limits no more than they allow, whoever else claims at the same time: what runs in all
   * processes, what runs for each workspace (which are then served in turn), and what was claimed in any stretch of time
   * as long as its rate limit names. For all other queues it waits for nobody's lock.
   * A claim in flight when a queue is paused or limited for the first time may still claim by what it saw.
   */
  claim(request: ClaimRequest): Promise<Claimed>
  /**
   * Extends every lease that is still the worker's to now + leaseMs, in one write; one that already reaches further stays. A
   * lease that ended but was not claimed again is renewed all the same. `begun` is written with it; a count never goes back.
   */
  renew(leaseMs: number, leasedRuns: readonly Renewal[], begun?: readonly BegunCount[]): Promise<Renewed>
  /**
   * One transaction for the batch. `refused`, and nothing changed, unless the run is running under this very fence and claim (and,
   * with `onlyExpired`, its lease has ended). A final verdict moves the run to history; `again` makes it pending, due
   * `delayMs` from now by the database's clock (at once when it is to be cancelled), with its attempt uncounted where the
   * verdict says so; with `keepsDue` it is due when it was before. `begun` is written as by `renew`. Journals what the
   * row cannot tell: every `again`, and every refusal (kind `refused`, with the worker and the verdict) but those of
   * `onlyExpired`, where it only means that somebody was quicker.
   */
  settle(settlements: readonly Settlement[], begun?: readonly BegunCount[]): Promise<('accepted' | 'refused')[]>
  /**
   * Leaves running runs to somebody outside: each that runs under this very fence and claim, and is not to be cancelled, stays
   * running with no worker and a lease until now + waitMs by the database's clock, in one write. `renew` then knows it as
   * lost; `settle` takes a verdict under its fence as before. Asked again it is accepted again, and its wait begins again.
   */
  handOver(leasedRuns: readonly ClaimedRun[], waitMs: number): Promise<('accepted' | 'refused')[]>
  /** Running runs whose lease has ended, oldest first; without a worker those that were handed over. */
  expired(limit: number): Promise<ExpiredRun[]>
}
