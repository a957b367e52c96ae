/** Decides whether a workspace may begin more work that goes on in the background, such as bulk operations and backfills; doing the work is left to others. */
import { concurrencyLimited, createSemaphore } from './concurrency.ts'
import type { Principal } from './principal.ts'

export interface RunningWorkOptions {
  /** What is counted, in the plural. */
  readonly what: string
  /** How much of it one workspace may have running at once. */
  readonly limit: number
  /** Counts what the workspace has running, up to `limit`. */
  readonly count: (workspace: string, limit: number) => Promise<number>
}

/** Requests of one workspace that begin such work at the same moment: each counts before the others have written. */
const BEGINNING = { server: 100, workspace: 5, key: 5 }
const RETRY_AFTER_SECONDS = 5

/** Calls `begin` when the workspace of the caller has room; throws CONCURRENCY_LIMITED otherwise. A caller of all workspaces has no limit. */
export type BeginWork = <Answer>(principal: Principal, begin: () => Promise<Answer>) => Promise<Answer>

export function runningWork({ what, limit, count }: RunningWorkOptions): BeginWork {
  const beginning = createSemaphore({ what, limits: BEGINNING, retryAfterSeconds: 1 })
  return async ({ workspace }, begin) => {
    if (workspace === null) return begin()
    const release = beginning.take({ key: null, workspace })
    try {
      if ((await count(workspace, limit)) >= limit)
        throw concurrencyLimited(what, 'workspace', { limit, retryAfterSeconds: RETRY_AFTER_SECONDS })
      return await begin()
    } finally {
      release()
    }
  }
}
