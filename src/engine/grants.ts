/** The runs this worker holds right now, with the local end of each lease; who renews and who executes them is decided elsewhere. */
import type { Progress, Run } from '../run/run.ts'

/** Why the work was told to stop. */
export type StopReason = 'lease_lost' | 'cancelled' | 'timed_out' | 'stopping'

/** One grant. It has a life of its own: it is renewed, may be told to stop, and ends. */
export class Held {
  readonly run: Run
  /** Local elapsed time after which the lease may be another worker's. */
  leaseEndsAt: number
  progress: Progress | null = null
  /** The work is over, and only its verdict is still to be written: there is nobody left to tell to stop. */
  ended = false
  /** Set once: the first reason stays. */
  stopped: StopReason | null = null
  /** Called when the work is told to stop, by whoever carries it out. */
  onStop: ((reason: StopReason) => void) | null = null
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
    this.onStop?.(reason)
    return true
  }
}

export interface Grants {
  add(run: Run, leaseEndsAt: number): Held
  remove(held: Held): void
  all(): Held[]
  readonly size: number
}

export function createGrants(): Grants {
  const held = new Map<string, Held>()
  return {
    add(run, leaseEndsAt) {
      const grant = new Held(run, leaseEndsAt)
      held.set(run.id, grant)
      return grant
    },
    remove(grant) {
      // A run granted to us again meanwhile is another grant.
      if (held.get(grant.run.id) === grant) held.delete(grant.run.id)
    },
    all: () => [...held.values()],
    get size() {
      return held.size
    },
  }
}
