/** Finds the next instant at which anything can happen, so that a test's clock can jump there; it changes nothing. */
import type { Run } from '../run/run.ts'
import type { RunFilter } from '../store/contract/history.ts'
import type { Store } from '../store/contract/store.ts'
import type { FakeClock } from './fake-clock.ts'

const PAGE = 1000

/** A timer, a schedule's cursor, a pending run or a lease: whichever comes first after now; null when nothing will. */
export async function nextInstant(store: Store, clock: FakeClock): Promise<number | null> {
  const now = clock.now()
  let next = Number.POSITIVE_INFINITY
  const consider = (at: number | null): void => {
    if (at !== null && at > now && at < next) next = at
  }
  const ringAt = clock.nextRingAt()
  // One that is due already waits only for the clock to be touched.
  if (ringAt !== null && ringAt <= now) return now
  consider(ringAt)
  consider((await store.planning.due({ lookaheadMs: 0, limit: 1 })).nextAt)
  for (const run of await allRuns(store, { states: ['pending', 'running'] })) {
    consider(run.state === 'pending' ? run.dueAt : run.leaseUntil && run.leaseUntil + 1)
  }
  return Number.isFinite(next) ? next : null
}

export async function allRuns(store: Store, filter: RunFilter = {}): Promise<Run[]> {
  const runs: Run[] = []
  for (;;) {
    const last = runs.at(-1)
    const page = await store.history.runs(filter, { limit: PAGE, ...(last ? { after: last } : {}) })
    runs.push(...page)
    if (page.length < PAGE) return runs
  }
}
