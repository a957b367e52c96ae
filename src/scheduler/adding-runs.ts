/** Adds enqueued runs and retries failed ones within the quotas of their workspaces; the callers choose the runs. */
import type { Run } from '../run/run.ts'
import type { Executor } from '../store/contract/executor.ts'
import type { Enqueued, NewRun } from '../store/contract/runs.ts'
import type { Core } from './core.ts'
import { bytesOf } from './payload-bytes.ts'
import type { Draw } from './quota-check.ts'

type Gated = Pick<Core, 'quotas' | 'store'>

/** All or none. */
export function addRuns({ quotas, store }: Gated, runs: readonly NewRun[], tx?: Executor): Promise<Enqueued[]> {
  const draws = (): Draw[] =>
    [...byWorkspace(runs)].map(([workspace, some]) => ({
      workspace,
      pendingRuns: some.length,
      queues: some.map(({ queue }) => queue),
      payloadBytesPerDay: some.reduce((sum, { payload }) => sum + bytesOf(payload), 0),
    }))
  return quotas.within(draws, async () => (await store()).runs.enqueue(runs, tx), tx)
}

/** How many runs are read in parallel. */
const AT_ONCE = 50

/** Returns the ids of the runs that were retried. */
export function retryRuns({ quotas, store }: Gated, ids: readonly string[], by: string): Promise<string[]> {
  const draws = async (): Promise<Draw[]> => {
    const { history } = await store()
    const failed: Run[] = []
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const found = await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => history.run(id)))
      failed.push(...found.filter((run) => run?.state === 'failed').map((run) => run!))
    }
    return [...byWorkspace(failed)].map(([workspace, some]) => ({
      ...{ workspace, pendingRuns: some.length, queues: some.map(({ queue }) => queue) },
    }))
  }
  return quotas.within(draws, async () => (await store()).runs.retry(ids, by))
}

function byWorkspace<Item extends { readonly workspace: string }>(items: readonly Item[]): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(item.workspace)
    if (group) group.push(item)
    else groups.set(item.workspace, [item])
  }
  return groups
}
