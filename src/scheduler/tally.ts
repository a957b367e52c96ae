/** Keeps one amount of one workspace: when it is counted again is decided by `workspace/allowance.ts`, how it is counted by the caller. */
import type { Executor } from '../store/contract/executor.ts'
import { fits, type Seen, weigh } from '../workspace/allowance.ts'

export interface Wanted {
  readonly wanted: number
  readonly limit: number
  /** Inside a transaction of the caller, which sees what it has not committed. */
  readonly tx: Executor | undefined
}

export interface Tally {
  /** Lets the amount through, until `end` is called once it is written or has failed; or answers what is used. */
  draw(wanted: Wanted): Promise<{ readonly end: () => void } | { readonly used: number }>
  /** Counts now, with what is let through and may not be written yet. */
  count(limit: number): Promise<number>
  readonly isIdle: boolean
}

export type Count = (limit: number, tx?: Executor) => Promise<number>

export function createTally(count: Count, elapsed: () => number): Tally {
  let seen: Seen | null = null
  let counting: Promise<number> | null = null
  let inFlight = 0
  let sum = 0

  const look = async (limit: number, tx?: Executor): Promise<number> => {
    const [before, upTo] = [inFlight, sum]
    const counted = await count(limit, tx)
    // What was in flight, or was let through meanwhile, may not be in the count.
    seen = { used: counted + before + (sum - upTo), at: elapsed(), drawn: 0 }
    return seen.used
  }
  /** One at a time: whoever comes meanwhile takes its answer. */
  const again = (limit: number): Promise<number> => {
    counting ??= look(limit).finally(() => {
      counting = null
    })
    return counting
  }

  return {
    async draw({ wanted, limit, tx }) {
      let verdict = weigh(seen, { limit, wanted, now: elapsed() })
      if (verdict === 'count') {
        await (tx ? look(limit, tx) : again(limit))
        verdict = fits(seen!, { limit, wanted }) ? 'go' : 'refuse'
      }
      if (verdict === 'refuse') return { used: seen!.used + seen!.drawn }
      seen = { ...seen!, drawn: seen!.drawn + wanted }
      inFlight += wanted
      sum += wanted
      return {
        end() {
          inFlight -= wanted
        },
      }
    },
    count: again,
    get isIdle() {
      return inFlight === 0 && counting === null
    },
  }
}
