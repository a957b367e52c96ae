/** Finds the next instant at which anything can happen, so that a test's clock can jump there; it changes nothing. */
import type { Run } from '../run/run.ts'
import type { RunFilter } from '../store/contract/history.ts'
import type { Store } from '../store/contract/store.ts'
import type { FakeClock } from './fake-clock.ts'

const PAGE = 1000
/** As `run/queue-limits.ts` has it. */
const RATE_STEPS = 50

/**
 * A timer (the driver sets one for the cursors), a pending run, a lease or a rate limit: whichever comes first after now;
 * null when nothing will. A run that waits for its group has no instant of its own: it is let in when another ends.
 */
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
  /** Queues in which something is due that was not claimed. */
  const late = new Set<string>()
  for (const run of await allRuns(store, { states: ['pending', 'running'] })) {
    if (run.state === 'running') consider(run.leaseUntil && run.leaseUntil + 1)
    else if (run.readiness !== 'blocked') consider(run.dueAt)
    if (run.state === 'pending' && run.readiness === 'ready' && run.dueAt <= now) late.add(run.queue)
  }
  if (late.size > 0) consider(await nextAllowance(store, late, now))
  return Number.isFinite(next) ? next : null
}

/** When a rate limit may let more of these queues through; it remembers the past in steps of this length. */
async function nextAllowance(store: Store, queues: ReadonlySet<string>, now: number): Promise<number | null> {
  const steps = (await store.queues.list()).flatMap(({ name, pause, limits: { rateLimit } }) =>
    rateLimit && !pause && queues.has(name) ? [Math.max(1, Math.floor(rateLimit.perMs / RATE_STEPS))] : [],
  )
  return steps.length === 0 ? null : Math.min(...steps.map((ms) => (Math.floor(now / ms) + 1) * ms))
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
