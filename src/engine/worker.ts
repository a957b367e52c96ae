/** Claims runs for its queues and keeps their slots busy; `attempt.ts` executes one run. */

import { isLimited, type QueueLimits } from '../run/queue-limits.ts'
import type { Run } from '../run/run.ts'
import { isLastAttempt } from '../run/settle.ts'
import { type Claimed, type ClaimStore, claimOrder, type Wanted } from '../store/contract/claims.ts'
import type { Clock } from '../time/clock.ts'
import type { Slots } from './attempt.ts'
import type { BegunCounts } from './begun.ts'
import { createFairShare, type FairShare } from './fair-share.ts'
import type { LeasedRun, LeasedRuns, StopReason } from './leased-runs.ts'
import { POLL_MS, type PollMs } from './poll.ts'
import { createPrefetch, type Prefetch } from './prefetch.ts'

/** Two claims in a row are at least this far apart, so that a stream of single runs is claimed in small groups. */
const MIN_PAUSE_MS = 1
/** Stops claiming while this many verdicts wait for the database: more work would add to the backlog. */
const MAX_UNWRITTEN = 5000
/** The rate of a queue is measured after this much time or this many runs; fewer runs could be fast by chance. */
const RATE_MS = 10
const RATE_RUNS = 16
/** How often a run returns uncounted before its start must be recorded first: a run that crashes its worker each time must run out of attempts. */
const MAX_UNANNOUNCED = 2
/** Synchronous handlers are started for this long at a time; then the event loop gets a turn. */
const SLICE_MS = 10

/** A queue as this process serves it. */
export interface QueueOptions {
  /** How many of its runs this process executes at once. */
  readonly concurrency: number
  /** The limits of all processes together. */
  readonly limits: QueueLimits
  /** The fraction of attempts that may be undelayed retries, from 0 to 1; null means no limit. */
  readonly retryBudget: number | null
}

export interface WorkerOptions {
  readonly claims: ClaimStore
  readonly clock: Clock
  readonly leasedRuns: LeasedRuns
  readonly begun: BegunCounts
  readonly queues: Readonly<Record<string, QueueOptions>>
  readonly workerId: string
  readonly leaseMs: number
  /** The poll interval; polls rarely find runs, because hints and exact timers come first. */
  readonly pollMs: PollMs
  /** Starts one run and reports its end to `slots`, possibly at once; never throws. */
  readonly attempt: (leased: LeasedRun) => void
  /** Ends a run that was cancelled before it started. */
  readonly cancel: (leased: LeasedRun) => void
  /** Requests another pass soon. */
  readonly wake: () => void
  /** Recording the next starts in the store failed; requests another pass later. */
  readonly onError: (error: unknown) => void
  /** Recording the next starts succeeded after a failure. */
  readonly onRecovery: () => void
}

/** How one queue is served by this process. */
export interface SlotUsage {
  readonly queue: string
  readonly busy: number
  readonly concurrency: number
}

export interface Worker {
  /** Claims once; returns the delay until the next pass in milliseconds. */
  pass(): Promise<number>
  /** Stops claiming and starting runs; returns the buffered ones. */
  close(): LeasedRun[]
  /** Attempts report their end here. */
  readonly slots: Slots
  /** Runs being executed right now. */
  readonly busy: number
  /** Busy and total slots by queue. */
  usage(): readonly SlotUsage[]
}

interface Queue {
  readonly name: string
  readonly concurrency: number
  readonly prefetch: Prefetch
  /** Whether it prefetches: not in a limited queue, where prefetched runs would block other processes. */
  readonly claimsAhead: boolean
  readonly fairShare: FairShare
  /** Claimed runs; those before index `first` have started. */
  buffer: LeasedRun[]
  first: number
  running: number
  /** Ended, with slots that stay taken until the store has their verdicts. */
  unsettled: number
  /** Whether slots are being filled right now; a run that ends meanwhile need not do so. */
  filling: boolean
  /** Whether the starts of runs that cannot be retried are being recorded in the store. */
  announcing: boolean
  /** Whether a slot came free since the last pass, and whether another pass was asked for because of that. */
  freed: boolean
  asked: boolean
  /** Ended since the rate was last looked at, how long each took in sum, and how long all took before the present stretch of work, which began at `since`. */
  ended: number
  tookMs: number
  busyMs: number
  since: number
}

export function createWorker(options: WorkerOptions): Worker {
  const { claims, clock, leasedRuns, begun, workerId, leaseMs } = options
  let open = true
  /** Started, and not yet written down. */
  let unwritten = 0
  /** Whether the store could not be told which runs begin next, the last time. */
  let isBeginFailing = false
  const queues = new Map<string, Queue>()
  for (const [name, { concurrency, limits }] of Object.entries(options.queues)) {
    queues.set(name, {
      name,
      concurrency,
      prefetch: createPrefetch(),
      claimsAhead: !isLimited(limits),
      fairShare: createFairShare(),
      buffer: [],
      first: 0,
      running: 0,
      unsettled: 0,
      filling: false,
      announcing: false,
      freed: false,
      asked: false,
      ended: 0,
      tookMs: 0,
      busyMs: 0,
      since: 0,
    })
  }

  /** No event arrives when another process frees capacity of a limited queue, so limited queues are polled often. */
  const limited = Object.values(options.queues).some(({ limits }) => isLimited(limits))

  const buffered = (queue: Queue): number => queue.buffer.length - queue.first
  const free = (queue: Queue): number => queue.concurrency - queue.running - queue.unsettled
  const capacity = (queue: Queue): number => queue.concurrency + (queue.claimsAhead ? queue.prefetch.size() : 0)
  const room = (queue: Queue): number =>
    Math.max(0, capacity(queue) - queue.running - queue.unsettled - buffered(queue))
  /** What is buffered begins before what the next claim brings. */
  const startable = (queue: Queue): number => Math.max(0, free(queue) - buffered(queue))
  /** A claim for every free slot would cost a round trip each, so it waits for half a buffer. */
  const isWorthAsking = (queue: Queue): boolean => buffered(queue) === 0 || room(queue) * 2 >= capacity(queue)

  /** A loop instead of recursion from the end of a run, or synchronous handlers would overflow the stack. */
  const fill = (queue: Queue): void => {
    if (queue.filling) return
    queue.filling = true
    const until = clock.elapsed() + SLICE_MS
    let now = 0
    while (open && now < until && free(queue) > 0 && buffered(queue) > 0) {
      const leased = queue.buffer[queue.first]!
      if (mustAnnounce(leased)) {
        void announce(queue, leased)
        break
      }
      queue.first++
      now = clock.elapsed()
      start(queue, leased, now)
      // Sends the next claim while the other runs execute.
      if (askWhenWorth(queue)) break
    }
    queue.filling = false
    if (open && !queue.announcing && free(queue) > 0 && buffered(queue) > 0) setImmediate(fill, queue)
  }

  /** A run whose lost attempt could not be followed by another, or that may be what ends its workers, begins only when the store counts it as begun. */
  const mustAnnounce = ({ run, ahead }: LeasedRun): boolean =>
    ahead !== null &&
    ahead.place >= ahead.claim.known &&
    (isLastAttempt(run) || run.fence - run.attempt >= MAX_UNANNOUNCED)

  /** Counts as many runs of the claim as begun as there are free slots for. */
  const announce = async (queue: Queue, { ahead }: LeasedRun): Promise<void> => {
    if (queue.announcing || ahead === null) return
    queue.announcing = true
    const { claimId, size } = ahead.claim
    const count = Math.min(size, ahead.place + free(queue))
    try {
      await claims.renew(leaseMs, [], [{ claimId, count }])
      begun.reported([{ claimId, count }])
      queue.announcing = false
      if (isBeginFailing) options.onRecovery()
      isBeginFailing = false
      fill(queue)
    } catch (error) {
      isBeginFailing = true
      // The next pass tries again, which the owner of `onError` asks for.
      queue.announcing = false
      options.onError(error)
    }
  }

  /** Once until the next pass; answers whether it did. */
  const askWhenWorth = (queue: Queue): boolean => {
    if (!open || !queue.freed || queue.asked || !isWorthAsking(queue)) return false
    queue.asked = true
    options.wake()
    return true
  }

  const isNext = (queue: Queue, { ahead }: LeasedRun): boolean =>
    queue.buffer[queue.first]?.ahead?.claim === ahead?.claim

  /** Counts a run as begun; with the last one that waits here, all of its claim. */
  const passed = (queue: Queue, leased: LeasedRun): void => {
    if (leased.ahead === null) return
    const { claim, place } = leased.ahead
    claim.begun = isNext(queue, leased) ? Math.max(claim.begun, place + 1) : claim.size
  }

  const start = (queue: Queue, leased: LeasedRun, now: number): void => {
    leased.onStop = null
    passed(queue, leased)
    // A worker that was suspended past its lease must not start the run, which may belong to another worker by now; the reaper returns it.
    if (leased.stopped || leased.leaseEndsAt <= now) {
      leasedRuns.remove(leased)
      return
    }
    if (queue.running++ === 0) queue.since = now
    unwritten++
    leased.startedAt = now
    options.attempt(leased)
  }

  /**
   * A process that is killed leaves no more than its concurrency of runs to be repeated, or recorded as failed though they ended: a slot stays
   * taken until the store has the verdict. Only work that is quicker than the store, and may be repeated, does not wait for it.
   */
  const staysInSlot = (queue: Queue, { run }: LeasedRun): boolean =>
    !queue.prefetch.isQuick(queue.concurrency) || isLastAttempt(run)

  const freed = (queue: Queue): void => {
    queue.freed = true
    if (queue.filling) return
    fill(queue)
    askWhenWorth(queue)
  }

  const slots: Slots = {
    ended(leased, at) {
      const queue = queues.get(leased.run.queue)!
      queue.running--
      measure(queue, leased, at)
      leased.staysInSlot = staysInSlot(queue, leased)
      if (leased.staysInSlot) queue.unsettled++
      else freed(queue)
    },
    // The lease is renewed until the verdict is written, which may take a while when the database is down.
    settled(leased) {
      leasedRuns.remove(leased)
      if (unwritten-- === MAX_UNWRITTEN) options.wake()
      if (!leased.staysInSlot) return
      const queue = queues.get(leased.run.queue)!
      queue.unsettled--
      freed(queue)
    },
  }

  /** Waiting for the database is no slowness of the work, and does not count. */
  const measure = (queue: Queue, leased: LeasedRun, now: number): void => {
    queue.ended++
    queue.tookMs += now - leased.startedAt
    queue.busyMs += now - queue.since
    queue.since = now
    if (queue.busyMs < RATE_MS && queue.ended < RATE_RUNS) return
    // Runs that begin together end together, as if they took no time: so many slots need at least this long for them.
    queue.prefetch.ended(queue.ended, Math.max(queue.busyMs, queue.tookMs / queue.concurrency))
    queue.ended = 0
    queue.busyMs = 0
    queue.tookMs = 0
  }

  /** Cancels a buffered run at once, without waiting for a slot. */
  const stoppedWaiting = (leased: LeasedRun, reason: StopReason): void => {
    const queue = queues.get(leased.run.queue)!
    const place = reason === 'cancelled' ? queue.buffer.indexOf(leased, queue.first) : -1
    if (place < 0) return
    queue.buffer.splice(place, 1)
    if (!isNext(queue, leased)) passed(queue, leased)
    options.cancel(leased)
  }

  /** Gives each run its place in its claim, where the claim has more runs than can begin at once. */
  const placesOf = (wanted: readonly Wanted[], runs: readonly Run[]): ((run: Run) => LeasedRun['ahead']) => {
    const places = new Map<Run, LeasedRun['ahead']>()
    for (const { queue, startable = 0 } of wanted) {
      const ofQueue = runs.filter((run) => run.queue === queue).sort(claimOrder)
      const claimId = ofQueue[0]?.claimId
      if (!claimId || ofQueue.length <= startable) continue
      const claim = begun.add({ claimId, size: ofQueue.length, known: startable })
      for (const [place, run] of ofQueue.entries()) places.set(run, { claim, place })
    }
    return (run) => places.get(run) ?? null
  }

  /** Returns whether the next claim may find more runs at once. */
  const take = (wanted: readonly Wanted[], claimed: Claimed, leaseEndsAt: number): boolean => {
    const counts = new Map<string, number>()
    for (const queue of queues.values()) queue.buffer.splice(0, queue.first)
    for (const queue of queues.values()) queue.first = 0
    const placeOf = placesOf(wanted, claimed.runs)
    for (const run of inBeginningOrder(claimed.runs)) {
      const leased = leasedRuns.add(run, leaseEndsAt)
      leased.ahead = placeOf(run)
      counts.set(run.queue, (counts.get(run.queue) ?? 0) + 1)
      // Cancelled while the attempt before was being settled: there is nothing to begin.
      if (run.cancelRequested) options.cancel(leased)
      else {
        leased.onStop = stoppedWaiting
        queues.get(run.queue)!.buffer.push(leased)
      }
    }
    let short = 0
    let more = false
    for (const want of wanted) {
      const got = counts.get(want.queue) ?? 0
      queues.get(want.queue)!.fairShare.claimed(want, { got, lastWorkspace: claimed.lastWorkspaces[want.queue] })
      // Shares may leave slots free though much is due.
      if (want.fair && got > 0) more = true
      else short += want.limit - got
    }
    return more || short === 0
  }

  return {
    slots,
    async pass() {
      const wanted: Wanted[] = []
      for (const queue of queues.values()) {
        queue.freed = false
        queue.asked = false
        const limit = isWorthAsking(queue) ? room(queue) : 0
        if (limit > 0) wanted.push({ queue: queue.name, limit, startable: startable(queue), ...queue.fairShare.next() })
      }
      if (!open || wanted.length === 0 || unwritten >= MAX_UNWRITTEN) {
        // Woken again when a slot is free.
        for (const queue of queues.values()) fill(queue)
        return Number.POSITIVE_INFINITY
      }
      const askedAt = clock.elapsed()
      const claimed = await claims.claim({ workerId, leaseMs, wanted })
      const more = take(wanted, claimed, askedAt + leaseMs)
      for (const queue of queues.values()) fill(queue)
      if (more) return MIN_PAUSE_MS
      const untilDue = claimed.nextDueAt === null ? Number.POSITIVE_INFINITY : claimed.nextDueAt - claimed.now
      return Math.min(limited ? POLL_MS : options.pollMs(), Math.max(MIN_PAUSE_MS, untilDue))
    },
    close() {
      open = false
      const left = [...queues.values()].flatMap(({ buffer, first }) => buffer.slice(first))
      for (const queue of queues.values()) {
        queue.buffer = []
        queue.first = 0
      }
      return left
    },
    usage: () =>
      [...queues.values()].map(({ name, running, concurrency }) => ({ queue: name, busy: running, concurrency })),
    get busy() {
      return [...queues.values()].reduce((sum, { running }) => sum + running, 0)
    },
  }
}

/** The order in which the store counts them. */
const inBeginningOrder = (runs: readonly Run[]): readonly Run[] => [...runs].sort(claimOrder)
