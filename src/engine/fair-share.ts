/** Decides when a queue's claim is shared among workspaces instead of taking the oldest first, and which workspace comes next. */
import type { Wanted } from '../store/contract/claims.ts'

/** Every workspace waits for a few claims at most, and most claims still take the oldest runs first. */
const FAIR_EVERY = 4

export interface FairShare {
  /** How the next claim asks. */
  next(): Pick<Wanted, 'fair' | 'lastWorkspace'>
  /** Records the result of a claim: how many runs, and the last workspace that got a share. */
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
