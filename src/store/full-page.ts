/** Fills a page of runs by as many bounded looks as it takes, the same way for every store; what one look finds is each store's matter. */
import type { Run } from '../run/run.ts'
import type { HistoryStore, RunFilter, RunPage } from './contract/history.ts'

export async function fullPage(find: HistoryStore['find'], filter: RunFilter, page: RunPage): Promise<Run[]> {
  const runs: Run[] = []
  for (let { after } = page; ; ) {
    const found = await find(filter, { ...page, limit: page.limit - runs.length, ...(after ? { after } : {}) })
    runs.push(...found.runs)
    if (found.next === null || runs.length >= page.limit) return runs
    after = found.next
  }
}
