/** Decides when a queue's claim is shared among workspaces instead of taking the oldest first, and whose turn comes next. */
import type { Wanted } from '../store/contract/claims.ts'

/** Often enough that nobody waits for more than a few claims, rare enough that the usual order is the usual one. */
const FAIR_EVERY = 4

export interface Turns {
  /** How the next claim asks. */
  next(): Pick<Wanted, 'fair' | 'turn'>
  /** What came of it: how many runs, and the workspace that had its turn last. */
  claimed(want: Wanted, answer: { readonly got: number; readonly turn: string | undefined }): void
}

export function createTurns(): Turns {
  /** Claims in a row that came back full: there is more than this process can take. */
  let full = 0
  let last: string | undefined
  return {
    next: () => ({
      ...(full > 0 && full % FAIR_EVERY === FAIR_EVERY - 1 ? { fair: true } : {}),
      ...(last === undefined ? {} : { turn: last }),
    }),
    claimed({ limit, fair }, { got, turn }) {
      last = turn ?? last
      // A share that came back short says nothing of the backlog; only the usual order does.
      full = got === limit || (fair && got > 0) ? full + 1 : 0
    },
  }
}
