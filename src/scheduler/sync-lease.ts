/** Lets one build at a time store its schedules, by a lease that is waited for, though not for ever. */
import { EverytickError } from '../errors.ts'
import type { Lock } from '../store/contract/locks.ts'
import type { Core } from './core.ts'

/** Long enough for one write of many schedules; it is renewed between them. */
const LEASE_MS = 20_000
/** Longer than the lease of somebody who died holding it. */
const WAIT_LIMIT_MS = 30_000
const POLL_MS = 200

export interface SyncLease {
  /** Refused when it was lost meanwhile. */
  readonly renew: () => Promise<void>
  readonly release: () => Promise<void>
}

/** Two builds that start together must not undo each other halfway, so one waits for the other. */
export async function acquireSync(core: Core, source: string): Promise<SyncLease> {
  const name = `sync:${source}`
  const holder = core.newId()
  const { locks } = await core.store()
  // Asked for each time, because it refuses once the app was stopped.
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
        throw new EverytickError('LEASE_LOST', `"${name}" was lost to another process`, { hint: 'sync again' })
      }
    },
    // Not given up, it ends by itself; that must not hide how the sync ended.
    release: () => locks.release(mine).catch(() => {}),
  }
}

const leased = (name: string): EverytickError =>
  new EverytickError('LOCK_HELD', `another process has been storing its schedules all the time ("${name}")`, {
    hint: 'try again when it is done',
  })
