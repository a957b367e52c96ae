/** `app.locks`: one process at a time holds a lock, as a lease with a fence; the work's signal aborts when the lease is lost. */
import { EverytickError } from '../errors.ts'
import {
  checkKeys,
  type Duration,
  readChoice,
  readDuration,
  readInteger,
  readName,
  readStoredName,
} from '../options.ts'
import type { Lock } from '../store/contract/locks.ts'
import type { Core } from './core.ts'

export interface LockView {
  readonly name: string
  /** `user`: taken by `locks.run()`. `engine`: the lease of a background task that one process does for all. */
  readonly kind: LockKind
  readonly holder: string
  /** Grows whenever the lock changes hands. */
  readonly fence: number
  readonly until: Date
}

export type LockKind = 'user' | 'engine'

export interface ReleaseOptions {
  /** `user` when absent. */
  readonly kind?: LockKind
  /** Releases the lock only while it has this fence; throws LOCK_HELD when another holder has taken it since. */
  readonly fence?: number
}

export interface LockContext {
  /** Pass it to systems that can reject writes of an older holder. */
  readonly fence: number
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal
}

export interface Locks {
  /** Runs `work` while holding the lock, then releases it. Throws LOCK_HELD while another holder has it. */
  run<Result>(
    name: string,
    options: { readonly ttl: Duration },
    work: (ctx: LockContext) => Promise<Result> | Result,
  ): Promise<Result>
  /** All held locks, including the leases of the engine's background tasks. */
  list(): Promise<LockView[]>
  /**
   * Takes a lock away from its holder, and returns the released lock. The holder notices with its next renewal, at most a third of
   * its `ttl` later. Until then both holders may work at the same time; only fences distinguish them. You may release a lease of the
   * engine at any time, because correctness does not depend on it. Throws LOCK_NOT_FOUND when the lock is not held.
   */
  release(name: string, options?: ReleaseOptions): Promise<LockView>
}

/** The prefix separates locks of users from those of the engine. */
const OWN = 'user:'
const MIN_TTL_MS = 1000

export function createLocks(core: Core, holder: string): Locks {
  /** Renews every third of the lease; calls `lose` once another holder may have the lock. */
  const keep = (lock: Lock, ttlMs: number, lose: (error: unknown) => void): (() => void) => {
    let [ended, leaseEndsAt] = [false, core.clock.elapsed() + ttlMs]
    let cancel = (): void => {}
    const renew = async (): Promise<void> => {
      const askedAt = core.clock.elapsed()
      try {
        const { locks } = await core.store()
        const renewed = await locks.acquire(lock.name, lock.holder, ttlMs)
        if (renewed?.fence !== lock.fence) {
          lose(lost(lock))
          // An admin released the lock and this renewal took it again; release it, because nothing uses it.
          if (renewed) await locks.release(renewed).catch(() => {})
          return
        }
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
      // Each call is its own holder, so that two calls in one process also exclude each other.
      const lock = await store.locks.acquire(own, `${holder} ${core.newId()}`, ttlMs)
      if (!lock) throw await leased(store.locks.list(), own)
      const abort = new AbortController()
      const stop = keep(lock, ttlMs, (error) => abort.abort(error))
      try {
        return await work({ fence: lock.fence, signal: abort.signal })
      } finally {
        stop()
        // If the release fails, the lease expires; the failure must not hide the result of the work.
        await store.locks.release(lock).catch(() => {})
      }
    },
    async list() {
      return (await (await core.store()).locks.list()).map(lockView)
    },
    async release(given, options = {}) {
      checkKeys(options, ['kind', 'fence'], 'locks.release()')
      const name = readStoredName(given, 'the name of a lock')
      const kind = readChoice(options.kind ?? 'user', 'kind', KINDS)
      const seen =
        options.fence === undefined ? null : readInteger(options.fence, 'fence', [1, Number.MAX_SAFE_INTEGER])
      const { locks } = await core.store()
      const all = await locks.list()
      const lock = all.find((one) => one.name === (kind === 'user' ? OWN + name : name) && lockView(one).kind === kind)
      if (!lock) throw notHeld(name, kind, all)
      if (seen !== null && seen !== lock.fence) throw changedHands(lock, seen)
      await locks.release(lock)
      return lockView(lock)
    },
  }
}

const KINDS = ['user', 'engine'] as const

const lockView = ({ name, holder, fence, until }: Lock): LockView => ({
  name: name.startsWith(OWN) ? name.slice(OWN.length) : name,
  kind: name.startsWith(OWN) ? 'user' : 'engine',
  holder: holder.split(' ')[0]!,
  fence,
  until: new Date(until),
})

function notHeld(name: string, kind: LockKind, all: readonly Lock[]): EverytickError {
  const other = all.map(lockView).find((one) => one.name === name && one.kind !== kind)
  return new EverytickError('LOCK_NOT_FOUND', `the lock "${name}" of kind ${kind} is not held`, {
    hint: other ? `there is one of kind ${other.kind}` : 'it was released, or its lease has expired',
  })
}

const changedHands = (lock: Lock, seen: number): EverytickError =>
  new EverytickError('LOCK_HELD', `the lock "${lockView(lock).name}" has fence ${lock.fence} now, not ${seen}`, {
    hint: 'another holder has taken it; list the locks again',
  })

async function leased(locks: Promise<Lock[]>, own: string): Promise<EverytickError> {
  const lock = (await locks).find(({ name }) => name === own)
  const by = lock ? ` by ${lock.holder.split(' ')[0]} until ${new Date(lock.until).toISOString()}` : ''
  return new EverytickError('LOCK_HELD', `the lock "${own.slice(OWN.length)}" is held${by}`, {
    hint: 'try again later',
  })
}

const lost = ({ name }: Lock): EverytickError =>
  new EverytickError('LEASE_LOST', `this process lost the lock "${name.slice(OWN.length)}"; another holder may have it`)
