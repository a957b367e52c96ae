/** Lets one process at a time do something, by a lease with a fencing number; a process that stalls may lose it, and is told. */
import { EverytickError } from '../errors.ts'
import { checkKeys, type Duration, readDuration, readName } from '../options.ts'
import type { Lock } from '../store/contract/locks.ts'
import type { Core } from './core.ts'

export interface LockView {
  readonly name: string
  readonly holder: string
  /** Grows whenever the lock changes hands. */
  readonly fence: number
  readonly until: Date
}

export interface LockContext {
  /** Hand it to systems that can refuse an older holder. */
  readonly fence: number
  /** Aborted when the lease could not be kept. */
  readonly signal: AbortSignal
}

export interface Locks {
  /** Runs `work` while holding the lock, and gives it up afterwards; refused with LOCK_HELD while another holds it. */
  run<Result>(
    name: string,
    options: { readonly ttl: Duration },
    work: (ctx: LockContext) => Promise<Result> | Result,
  ): Promise<Result>
  /** Who holds what, the engine's own duties included. */
  list(): Promise<LockView[]>
}

/** Locks of users stand apart from the engine's own. */
const OWN = 'user:'
const MIN_TTL_MS = 1000

export function createLocks(core: Core, holder: string): Locks {
  /** Renews at a third of the lease; tells the work to stop once the lease may be another's. */
  const keep = (lock: Lock, ttlMs: number, lose: (error: unknown) => void): (() => void) => {
    let [ended, leaseEndsAt] = [false, core.clock.elapsed() + ttlMs]
    let cancel = (): void => {}
    const renew = async (): Promise<void> => {
      const askedAt = core.clock.elapsed()
      try {
        const renewed = await (await core.store()).locks.acquire(lock.name, lock.holder, ttlMs)
        if (renewed?.fence !== lock.fence) return lose(lost(lock))
        leaseEndsAt = askedAt + ttlMs
      } catch (error) {
        if (core.clock.elapsed() >= leaseEndsAt) return lose(error)
      }
      if (!ended) cancel = core.timers.set(ttlMs / 3, renew)
    }
    cancel = core.timers.set(ttlMs / 3, renew)
    return () => {
      ended = true
      cancel()
    }
  }

  return {
    async run(name, options, work) {
      checkKeys(options, ['ttl'], 'locks.run()')
      const own = `${OWN}${readName(name, 'the name of a lock')}`
      const ttlMs = readDuration(options.ttl, 'ttl', MIN_TTL_MS)
      const store = await core.store()
      // Each call is a holder of its own, so that two calls in one process exclude each other too.
      const lock = await store.locks.acquire(own, `${holder} ${core.newId()}`, ttlMs)
      if (!lock) throw await held(store.locks.list(), own)
      const abort = new AbortController()
      const stop = keep(lock, ttlMs, (error) => abort.abort(error))
      try {
        return await work({ fence: lock.fence, signal: abort.signal })
      } finally {
        stop()
        // Not given up, it ends by itself; that must not hide what the work answered.
        await store.locks.release(lock).catch(() => {})
      }
    },
    async list() {
      const locks = await (await core.store()).locks.list()
      return locks.map(({ name, holder, fence, until }) => ({
        name: name.startsWith(OWN) ? name.slice(OWN.length) : name,
        holder: holder.split(' ')[0]!,
        fence,
        until: new Date(until),
      }))
    },
  }
}

async function held(locks: Promise<Lock[]>, own: string): Promise<EverytickError> {
  const lock = (await locks).find(({ name }) => name === own)
  const by = lock ? ` by ${lock.holder.split(' ')[0]} until ${new Date(lock.until).toISOString()}` : ''
  return new EverytickError('LOCK_HELD', `the lock "${own.slice(OWN.length)}" is held${by}`, {
    hint: 'try again later',
  })
}

const lost = ({ name }: Lock): EverytickError =>
  new EverytickError('LEASE_LOST', `the lock "${name.slice(OWN.length)}" was lost to another holder`)
