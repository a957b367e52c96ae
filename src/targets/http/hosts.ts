/** Knows the hosts that are being called, all jobs of a process together: who may call now, who waits, and which host is left in peace by which workspace. */
import type { Clock } from '../../time/clock.ts'
import type { Timers } from '../../time/timers.ts'
import { type Breaker, CLOSED, type Health, heardAt, permissionAt } from './breaker.ts'
import { isTimeout } from './failure.ts'
import { createSemaphore, type Semaphore } from './semaphore.ts'

export interface Visit {
  /** What one workspace finds of a host keeps no other from calling it: it may have asked for what no host can do. */
  readonly workspace: string
  readonly maxPerHost: number
  readonly signal: AbortSignal
  /** Whether to wait here while the host rests, instead of being sent away. */
  readonly waits: boolean
}

export type Entrance =
  /** `leave` must be called once. */
  | { readonly kind: 'entered'; readonly leave: (health: Health) => void }
  /** Nobody may call yet; also for one that waited for that until its time was up. */
  | { readonly kind: 'resting'; readonly forMs: number }

export interface Hosts {
  /** Rejects with the reason of the signal. */
  enter(origin: string, visit: Visit): Promise<Entrance>
  /** How many it remembers. */
  readonly size: number
}

/** How much a host can take does not depend on who asks. */
interface Place {
  readonly semaphore: Semaphore
  visitors: number
}

/** What a workspace knows of a host. */
interface Known {
  breaker: Breaker
  visitors: number
  /** Those who wait for a call to end. */
  readonly waiting: Set<() => void>
}

const MAX_KNOWN = 10_000

export function createHosts(clock: Clock, timers: Timers): Hosts {
  const places = new Map<string, Place>()
  const known = new Map<string, Known>()

  const placeOf = (origin: string): Place => {
    const place = places.get(origin) ?? { semaphore: createSemaphore(), visitors: 0 }
    places.set(origin, place)
    return place
  }

  const knownBy = (key: string): Known => {
    const found = known.get(key)
    if (found) return found
    if (known.size >= MAX_KNOWN) forgetOne()
    const fresh: Known = { breaker: CLOSED, visitors: 0, waiting: new Set() }
    known.set(key, fresh)
    return fresh
  }

  /** The one that was met longest ago, of those where nobody is. */
  const forgetOne = (): void => {
    for (const [key, { visitors }] of known) {
      if (visitors === 0) return void known.delete(key)
    }
  }

  /** With a seat: null when it may call. Without one: for how long the host rests, so that whoever waits for that holds up nobody. */
  const admitted = async (semaphore: Semaphore, host: Known, visit: Visit): Promise<number | null> => {
    const { maxPerHost, signal, waits } = visit
    for (;;) {
      await semaphore.take(maxPerHost, signal)
      const permission = permissionAt(host.breaker, clock.elapsed())
      if (permission.kind === 'call') {
        host.breaker = permission.next
        return null
      }
      semaphore.give()
      const backoffMs = permission.kind === 'rest' ? permission.forMs : null
      if (backoffMs !== null && !waits) return backoffMs
      await told(host, { signal, timers, backoffMs })
      if (signal.aborted && isTimeout(signal.reason)) return backoffOf(host.breaker, clock.elapsed())
      signal.throwIfAborted()
    }
  }

  return {
    async enter(origin, visit) {
      const key = `${visit.workspace}\n${origin}`
      const [place, host] = [placeOf(origin), knownBy(key)]
      place.visitors++
      host.visitors++
      const gone = (): void => {
        if (--place.visitors === 0) places.delete(origin)
        // A host that was well needs no memory while nobody is there.
        const isWell = host.breaker.kind === 'closed' && host.breaker.failures === 0
        if (--host.visitors === 0 && isWell) known.delete(key)
      }
      const leave = (health: Health): void => {
        host.breaker = heardAt(host.breaker, health, clock.elapsed())
        for (const wake of [...host.waiting]) wake()
        place.semaphore.give()
        gone()
      }
      try {
        const forMs = await admitted(place.semaphore, host, visit)
        if (forMs === null) return { kind: 'entered', leave }
        gone()
        return { kind: 'resting', forMs }
      } catch (error) {
        gone()
        throw error
      }
    },
    get size() {
      return known.size
    },
  }
}

const backoffOf = (breaker: Breaker, at: number): number => {
  const permission = permissionAt(breaker, at)
  return permission.kind === 'rest' ? permission.forMs : 0
}

interface NotificationContext {
  readonly signal: AbortSignal
  readonly timers: Timers
  /** Null while one call tries: nobody knows for how long. */
  readonly backoffMs: number | null
}

/** Until the next call has ended, the rest is over, or the signal says stop. */
const told = ({ waiting }: Known, { signal, timers, backoffMs }: NotificationContext): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      waiting.delete(wake)
      signal.removeEventListener('abort', wake)
      cancelTimer()
      resolve()
    }
    const cancelTimer = backoffMs === null ? (): void => {} : timers.set(backoffMs, wake)
    waiting.add(wake)
    signal.addEventListener('abort', wake)
  })
