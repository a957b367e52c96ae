/** Limits concurrent background work per workspace, such as bulk operations and backfills. */
import { concurrencyLimited, createSemaphore } from './concurrency.ts'
import type { Principal } from './principal.ts'

export interface RunningWorkOptions {
  /** The plural noun for messages. */
  readonly what: string
  /** The limit per workspace. */
  readonly limit: number
  /** Counts the active work of the workspace, up to `limit`. */
  readonly count: (workspace: string, limit: number) => Promise<number>
}

/** Concurrent requests of one workspace, because each would count before the others have written. */
const BEGINNING = { server: 100, workspace: 5, key: 5 }
const RETRY_AFTER_SECONDS = 5

/** Calls `begin` if the workspace of the caller is below its limit; otherwise throws CONCURRENCY_LIMITED. Callers of all workspaces have no limit. */
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
