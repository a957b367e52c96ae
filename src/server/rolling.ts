/** Keeps the sums over finished runs up to date, so that a day of runs is a few hundred rows to read. */
import type { BackgroundTask } from './background-tasks.ts'

const BACKOFF_MS = 5000

export const rolling: BackgroundTask = {
  name: 'server-rolling',
  async pass(store) {
    const { more } = await store.stats.roll()
    return more ? 0 : BACKOFF_MS
  },
}
