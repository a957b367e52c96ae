/** Claims runs for its queues and keeps their slots busy; how one run is carried out is `attempt.ts`. */

import { isLimited, type QueueLimits } from '../run/queue-limits.ts'
import type { Run } from '../run/run.ts'
import type { Claimed, ClaimStore, Wanted } from '../store/contract/claims.ts'
import type { Clock } from '../time/clock.ts'
import type { Grants, Held } from './grants.ts'
import { createPrefetch, type Prefetch } from './prefetch.ts'
import { createTurns, type Turns } from './turns.ts'

/** The poll is the truth; hints and exact timers make it rare that it finds something. */
const POLL_MS = 1000
/** Two claims in a row are at least this far apart, so that a stream of single runs is claimed in small groups. */
const MIN_PAUSE_MS = 1
/** With so many verdicts waiting for the database, more work would only make it worse. */
const MAX_UNWRITTEN = 5000
/** How often the rate of a queue is looked at. */
const RATE_MS = 50

/** A queue as this process serves it. */
export interface QueueOptions {
  /** How many of its runs this process works on at once. */
  readonly concurrency: number
  /** What all processes together may do. */
  readonly limits: QueueLimits
  /** Retries per attempt that are not put off, from 0 to 1; null means all. */
  readonly retryBudget: number | null
}

export interface WorkerOptions {
  readonly claims: ClaimStore
  readonly clock: Clock
  readonly grants: Grants
  readonly queues: Readonly<Record<string, QueueOptions>>
  readonly workerId: string
  readonly leaseMs: number
  /** Carries out one run: calls `ended` when its slot is free, resolves when its verdict is written; never rejects. */
  readonly attempt: (held: Held, ended: () => void) => Promise<void>
  /** Ends a run that was cancelled before it was begun. */
  readonly cancel: (held: Held) => void
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
  /** None where others wait for what this process would only hold. */
  readonly prefetch: Prefetch | null
  readonly turns: Turns
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
  for (const [name, { concurrency, limits }] of Object.entries(options.queues)) {
    queues.set(name, {
      name,
      concurrency,
      prefetch: isLimited(limits) ? null : createPrefetch(),
      turns: createTurns(),
      buffer: [],
      running: 0,
      ended: 0,
      since: clock.elapsed(),
    })
  }

  const capacity = (queue: Queue): number => queue.concurrency + (queue.prefetch?.size() ?? 0)
  const room = (queue: Queue): number => Math.max(0, capacity(queue) - queue.running - queue.buffer.length)

  const fill = (queue: Queue): void => {
    while (open && queue.running < queue.concurrency && queue.buffer.length > 0) start(queue, queue.buffer.shift()!)
  }

  const start = (queue: Queue, held: Held): void => {
    held.onStop = null
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
    queue.prefetch?.ended(queue.ended, now - queue.since)
    queue.ended = 0
    queue.since = now
  }

  /** A run that is cancelled while it waits here need not wait for a slot to hear of it. */
  const buffer = (queue: Queue, run: Run, leaseEndsAt: number): void => {
    const held = grants.add(run, leaseEndsAt)
    held.onStop = (reason) => {
      if (reason !== 'cancelled' || !queue.buffer.includes(held)) return
      queue.buffer = queue.buffer.filter((each) => each !== held)
      options.cancel(held)
    }
    queue.buffer.push(held)
  }

  /** Answers whether the next claim may find more at once. */
  const take = (wanted: readonly Wanted[], claimed: Claimed, leaseEndsAt: number): boolean => {
    const counts = new Map<string, number>()
    for (const run of claimed.runs) {
      // Cancelled while the attempt before was being settled: there is nothing to begin.
      if (run.cancelRequested) options.cancel(grants.add(run, leaseEndsAt))
      else buffer(queues.get(run.queue)!, run, leaseEndsAt)
      counts.set(run.queue, (counts.get(run.queue) ?? 0) + 1)
    }
    let short = 0
    let more = false
    for (const want of wanted) {
      const got = counts.get(want.queue) ?? 0
      queues.get(want.queue)!.turns.claimed(want, { got, turn: claimed.turns[want.queue] })
      // Shares may leave slots free though much is due.
      if (want.fair && got > 0) more = true
      else short += want.limit - got
    }
    return more || short === 0
  }

  return {
    async pass() {
      const wanted: Wanted[] = []
      for (const queue of queues.values()) {
        const limit = room(queue)
        if (limit > 0) wanted.push({ queue: queue.name, limit, ...queue.turns.next() })
      }
      // Woken again when a slot is free.
      if (!open || wanted.length === 0 || unwritten >= MAX_UNWRITTEN) return Number.POSITIVE_INFINITY
      const askedAt = clock.elapsed()
      const claimed = await claims.claim({ workerId, leaseMs, wanted })
      const more = take(wanted, claimed, askedAt + leaseMs)
      for (const queue of queues.values()) fill(queue)
      if (more) return MIN_PAUSE_MS
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
