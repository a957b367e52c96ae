/** Claims runs for its queues and keeps their slots busy; how one run is carried out is `attempt.ts`. */
import type { ClaimStore } from '../store/contract/claims.ts'
import type { Clock } from '../time/clock.ts'
import type { Grants, Held } from './grants.ts'
import { createPrefetch, type Prefetch } from './prefetch.ts'

/** The poll is the truth; hints and exact timers make it rare that it finds something. */
const POLL_MS = 1000
/** Two claims in a row are at least this far apart, so that a stream of single runs is claimed in small groups. */
const MIN_PAUSE_MS = 1
/** With so many verdicts waiting for the database, more work would only make it worse. */
const MAX_UNWRITTEN = 5000
/** How often the rate of a queue is looked at. */
const RATE_MS = 50

export interface WorkerOptions {
  readonly claims: ClaimStore
  readonly clock: Clock
  readonly grants: Grants
  /** How many runs of each queue may be worked on at once. */
  readonly queues: Readonly<Record<string, number>>
  readonly workerId: string
  readonly leaseMs: number
  /** Carries out one run: calls `ended` when its slot is free, resolves when its verdict is written; never rejects. */
  readonly attempt: (held: Held, ended: () => void) => Promise<void>
  /** Asks for another pass soon. */
  readonly wake: () => void
}

export interface Worker {
  /** One claim; answers in how many milliseconds the next is due. */
  pass(): Promise<number>
  /** No new claims and nothing started from the buffer; answers what was buffered. */
  close(): Held[]
  /** Runs being carried out right now. */
  readonly busy: number
}

interface Queue {
  readonly name: string
  readonly concurrency: number
  readonly prefetch: Prefetch
  buffer: Held[]
  running: number
  /** Ended since the rate was last looked at, and when that was. */
  ended: number
  since: number
}

export function createWorker(options: WorkerOptions): Worker {
  const { claims, clock, grants, workerId, leaseMs } = options
  let open = true
  /** Started, and not yet written down. */
  let unwritten = 0
  const queues = new Map<string, Queue>()
  for (const [name, concurrency] of Object.entries(options.queues)) {
    queues.set(name, {
      name,
      concurrency,
      prefetch: createPrefetch(),
      buffer: [],
      running: 0,
      ended: 0,
      since: clock.elapsed(),
    })
  }

  const capacity = (queue: Queue): number => queue.concurrency + queue.prefetch.size()
  const room = (queue: Queue): number => Math.max(0, capacity(queue) - queue.running - queue.buffer.length)

  const fill = (queue: Queue): void => {
    while (open && queue.running < queue.concurrency && queue.buffer.length > 0) start(queue, queue.buffer.shift()!)
  }

  const start = (queue: Queue, held: Held): void => {
    // A worker that slept past its lease must not start what may be another's by now; the reaper hands it on.
    if (held.stopped || held.leaseEndsAt <= clock.elapsed()) {
      grants.remove(held)
      return
    }
    queue.running++
    unwritten++
    const ended = (): void => {
      queue.running--
      measure(queue)
      fill(queue)
      // Asking again for every free slot would be one round trip each; half a buffer is worth one.
      if (open && (queue.buffer.length === 0 || room(queue) * 2 >= capacity(queue))) options.wake()
    }
    // The lease is renewed until the verdict is written, which may take a while when the database is away.
    options.attempt(held, ended).then(() => {
      grants.remove(held)
      if (unwritten-- === MAX_UNWRITTEN) options.wake()
    })
  }

  const measure = (queue: Queue): void => {
    queue.ended++
    const now = clock.elapsed()
    if (now - queue.since < RATE_MS) return
    queue.prefetch.ended(queue.ended, now - queue.since)
    queue.ended = 0
    queue.since = now
  }

  return {
    async pass() {
      const wanted: { queue: string; limit: number }[] = []
      for (const queue of queues.values()) {
        const limit = room(queue)
        if (limit > 0) wanted.push({ queue: queue.name, limit })
      }
      // Woken again when a slot is free.
      if (!open || wanted.length === 0 || unwritten >= MAX_UNWRITTEN) return Number.POSITIVE_INFINITY
      const askedAt = clock.elapsed()
      const claimed = await claims.claim({ workerId, leaseMs, wanted })
      for (const run of claimed.runs) queues.get(run.queue)!.buffer.push(grants.add(run, askedAt + leaseMs))
      for (const queue of queues.values()) fill(queue)
      const asked = wanted.reduce((sum, { limit }) => sum + limit, 0)
      if (claimed.runs.length === asked) return MIN_PAUSE_MS
      const untilDue = claimed.nextDueAt === null ? POLL_MS : claimed.nextDueAt - claimed.now
      return Math.min(POLL_MS, Math.max(MIN_PAUSE_MS, untilDue))
    },
    close() {
      open = false
      const buffered = [...queues.values()].flatMap((queue) => queue.buffer)
      for (const queue of queues.values()) queue.buffer = []
      return buffered
    },
    get busy() {
      return [...queues.values()].reduce((sum, { running }) => sum + running, 0)
    },
  }
}
