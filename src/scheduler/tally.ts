/** Keeps one amount of one workspace: when it is counted again is decided by `workspace/allowance.ts`, how it is counted by the caller. */
import { fits, type Seen, weigh } from '../workspace/allowance.ts'

export interface Tally {
  /** Lets the amount through, until `end` is called once it is written or has failed; or answers what is used. */
  draw(wanted: number, limit: number): Promise<{ readonly end: () => void } | { readonly used: number }>
  /** Counts now, with what is let through and may not be written yet. */
  count(limit: number): Promise<number>
  readonly isIdle: boolean
}

export function createTally(count: (limit: number) => Promise<number>, elapsed: () => number): Tally {
  let seen: Seen | null = null
  let counting: Promise<number> | null = null
  let inFlight = 0
  let meanwhile = 0

  const look = async (limit: number): Promise<number> => {
    const before = inFlight
    meanwhile = 0
    const counted = await count(limit)
    seen = { used: counted + before + meanwhile, at: elapsed(), drawn: 0 }
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
    async draw(wanted, limit) {
      let verdict = weigh(seen, { limit, wanted, now: elapsed() })
      if (verdict === 'count') {
        await again(limit)
        verdict = fits(seen!, { limit, wanted }) ? 'go' : 'refuse'
      }
      if (verdict === 'refuse') return { used: seen!.used + seen!.drawn }
      seen = { ...seen!, drawn: seen!.drawn + wanted }
      inFlight += wanted
      meanwhile += wanted
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
