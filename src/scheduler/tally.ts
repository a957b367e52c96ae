/** Caches the usage of one quota of one workspace; `workspace/allowance.ts` decides when to count again, the caller counts. */
import type { Executor } from '../store/contract/executor.ts'
import { fits, type Seen, weigh } from '../workspace/allowance.ts'

export interface Wanted {
  readonly wanted: number
  readonly limit: number
  /** A transaction of the caller, which sees its own uncommitted rows. */
  readonly tx: Executor | undefined
}

export interface Tally {
  /** Reserves the amount until `end` is called after the write; or returns the used amount when the limit is reached. */
  draw(wanted: Wanted): Promise<{ readonly end: () => void } | { readonly used: number }>
  /** Counts now, including reserved amounts that may not be written yet. */
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
    // The count may not include amounts that were in flight or reserved meanwhile.
    seen = { used: counted + before + (sum - upTo), at: elapsed(), drawn: 0 }
    return seen.used
  }
  /** One count at a time; concurrent callers share its result. */
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
