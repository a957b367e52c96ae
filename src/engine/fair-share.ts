/** Decides when a queue's claim is shared among workspaces instead of taking the oldest first, and whose turn comes next. */
import type { Wanted } from '../store/contract/claims.ts'

/** Often enough that nobody waits for more than a few claims, rare enough that the usual order is the usual one. */
const FAIR_EVERY = 4

export interface FairShare {
  /** How the next claim asks. */
  next(): Pick<Wanted, 'fair' | 'lastWorkspace'>
  /** What came of it: how many runs, and the workspace that had its turn last. */
  claimed(want: Wanted, answer: { readonly got: number; readonly lastWorkspace: string | undefined }): void
}

export function createFairShare(): FairShare {
  /** Claims in a row that came back full: there is more than this process can take. */
  let full = 0
  let last: string | undefined
  return {
    next: () => ({
      ...(full > 0 && full % FAIR_EVERY === FAIR_EVERY - 1 ? { fair: true } : {}),
      ...(last === undefined ? {} : { lastWorkspace: last }),
    }),
    claimed({ limit, fair }, { got, lastWorkspace }) {
      last = lastWorkspace ?? last
      // A share that came back short says nothing of the backlog; only the usual order does.
      full = got === limit || (fair && got > 0) ? full + 1 : 0
    },
  }
}
