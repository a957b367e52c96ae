/** Cancels and retries many runs, page by page; the store decides which single runs may be cancelled or retried. */
import {
  checkKeys,
  type Instant,
  readBoolean,
  readChoice,
  readInstantOption,
  readInteger,
  readText,
  refused,
} from '../options.ts'
import type { Run } from '../run/run.ts'
import type { RunFilter } from '../store/contract/history.ts'
import type { Store } from '../store/contract/store.ts'
import { retryRuns } from './adding-runs.ts'
import type { Core } from './core.ts'

interface WhichRuns {
  readonly workspace?: string
  readonly job?: string
  /** The key of a schedule, in the given workspace or in `default`. */
  readonly schedule?: string
  readonly queue?: string
  /** 1000 when absent, 100,000 at most. */
  readonly limit?: number
  /** Returns what would change, and writes nothing. */
  readonly dryRun?: boolean
}

export interface RetryFilter extends WhichRuns {
  /** Only runs that failed with an error of this name or code, or with this text in its message. */
  readonly error?: string
  /** Only runs that failed at this instant or later. */
  readonly since?: Instant
}

export interface CancelFilter extends WhichRuns {
  readonly state?: 'pending' | 'running'
}

export interface CancelCounts {
  /** Runs that ended at once. */
  readonly cancelled: number
  /** Running runs whose signal is aborted. */
  readonly cancelling: number
  /** Runs that had ended before. */
  readonly finished: number
  readonly notFound: number
}

interface Bulk {
  readonly by: string
  /** Reads the fields that both filters share. */
  filter(): Promise<RunFilter>
}

const SHARED = ['workspace', 'job', 'schedule', 'queue', 'limit', 'dryRun']
const PAGE = 1000
const AT_ONCE = 50
const LIVE = ['pending', 'running'] as const
const MAX = 100_000

export async function retryMany(core: Core, which: RetryFilter, { by, filter }: Bulk): Promise<string[]> {
  checkKeys(which, [...SHARED, 'error', 'since'], 'runs.retry()')
  const { limit, dryRun } = readShared(which)
  const error = which.error === undefined ? null : readText(which.error, 'error', 1000)
  const sinceAt = which.since === undefined ? Number.NEGATIVE_INFINITY : readInstantOption(which.since, 'since')
  const fits = (run: Run): boolean => (run.finishedAt ?? 0) >= sinceAt && (error === null || failedWith(run, error))
  const moved: string[] = []
  const store = await core.store()
  for await (const runs of pages(store, { ...(await filter()), states: ['failed'] })) {
    const ids = runs.filter(fits).map(({ id }) => id)
    const some = ids.slice(0, limit - moved.length)
    if (some.length > 0) moved.push(...(dryRun ? some : await retryRuns(core, some, by)))
    if (moved.length >= limit) break
  }
  return moved
}

const failedWith = ({ error }: Run, text: string): boolean =>
  error !== null && (error.name === text || error.code === text || error.message.includes(text))

export async function cancelMany(
  store: Store,
  which: readonly string[] | CancelFilter,
  { by, filter }: Bulk,
): Promise<CancelCounts> {
  const counts = { cancelled: 0, cancelling: 0, finished: 0, notFound: 0 }
  const cancel = async (id: string): Promise<void> => {
    const answer = await store.runs.cancel(id, by)
    counts[answer === 'not_found' ? 'notFound' : answer]++
  }
  const cancelAll = async (ids: readonly string[]): Promise<void> => {
    for (let from = 0; from < ids.length; from += AT_ONCE)
      await Promise.all(ids.slice(from, from + AT_ONCE).map(cancel))
  }
  if (isList(which)) {
    await cancelAll([...new Set(which)])
    return counts
  }
  checkKeys(which, [...SHARED, 'state'], 'runs.cancel()')
  const { limit, dryRun } = readShared(which)
  const { limit: _, dryRun: __, ...named } = which
  if (Object.values(named).every((value) => value === undefined)) {
    throw refused(
      'runs.cancel() without a filter would cancel all runs',
      'filter by workspace, job, schedule, queue or state',
    )
  }
  const states = which.state === undefined ? LIVE : [readChoice(which.state, 'state', LIVE)]
  let left = limit
  for await (const page of pages(store, { ...(await filter()), states })) {
    const some = page.slice(0, left)
    left -= some.length
    if (!dryRun) await cancelAll(some.map(({ id }) => id))
    else for (const { state } of some) counts[state === 'pending' ? 'cancelled' : 'cancelling']++
    if (left === 0) break
  }
  return counts
}

const isList = (which: readonly string[] | CancelFilter): which is readonly string[] => Array.isArray(which)

const readShared = ({ limit, dryRun }: WhichRuns): { limit: number; dryRun: boolean } => ({
  limit: readInteger(limit ?? 1000, 'limit', [1, MAX]),
  dryRun: readBoolean(dryRun ?? false, 'dryRun'),
})

/** Newest first; changing the runs of one page does not shift the next pages. */
async function* pages(store: Store, filter: RunFilter): AsyncGenerator<Run[]> {
  for (let after: { readonly id: string } | undefined; ; ) {
    const { runs, next } = await store.history.find(filter, {
      limit: PAGE,
      omit: ['payload', 'result'],
      ...(after ? { after } : {}),
    })
    if (runs.length > 0) yield runs
    if (next === null) return
    after = next
  }
}
