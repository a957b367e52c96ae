/** Lets one build at a time store its schedules: waits for a lease, with a time limit. */
import { EverytickError } from '../errors.ts'
import type { Lock } from '../store/contract/locks.ts'
import type { Core } from './core.ts'

/** Long enough for one write of many schedules; the sync renews it between writes. */
const LEASE_MS = 20_000
/** Longer than the lease, so that the lease of a crashed process expires first. */
const WAIT_LIMIT_MS = 30_000
const POLL_MS = 200

export interface SyncLease {
  /** Throws LEASE_LOST when another process has the lease. */
  readonly renew: () => Promise<void>
  readonly release: () => Promise<void>
}

/** Two builds that start together must not undo each other halfway, so one waits for the other. */
export async function acquireSync(core: Core, source: string): Promise<SyncLease> {
  const name = `sync:${source}`
  const holder = core.newId()
  const { locks } = await core.store()
  // Gets the store each time, because `store()` rejects after the app was stopped.
  const take = async (): Promise<Lock | null> => (await core.store()).locks.acquire(name, holder, LEASE_MS)
  const startedAt = core.clock.elapsed()
  let lock = await take()
  while (!lock) {
    if (core.clock.elapsed() - startedAt >= WAIT_LIMIT_MS) throw leased(name)
    await new Promise<void>((resolve) => core.timers.set(POLL_MS, resolve))
    lock = await take()
  }
  const mine = lock
  return {
    async renew() {
      if ((await take())?.fence !== mine.fence) {
        throw new EverytickError('LEASE_LOST', `another process has taken the sync lease "${name}"`, {
          hint: 'sync again',
        })
      }
    },
    // If the release fails, the lease expires; the failure must not hide the outcome of the sync.
    release: () => locks.release(mine).catch(() => {}),
  }
}

const leased = (name: string): EverytickError =>
  new EverytickError(
    'LOCK_HELD',
    `another process has held the sync lease "${name}" for over ${WAIT_LIMIT_MS / 1000} seconds`,
    {
      hint: 'try again when that process has stored its schedules',
    },
  )
