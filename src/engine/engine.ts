/** Puts the loops of one process together and gives them one life: start, stop with a drain, crash; each loop is a file of its own. */

import type { Run } from '../run/run.ts'
import type { Verdict } from '../run/settle.ts'
import { systemTimers } from '../time/timers.ts'
import { createAttempt } from './attempt.ts'
import { createBeat } from './beat.ts'
import { createBegunCounts } from './begun.ts'
import { createCompletionKey } from './completion-key.ts'
import { createDuties } from './duties.ts'
import { createEndings } from './endings.ts'
import type { EngineOptions } from './engine-options.ts'
import { createFailurePause } from './failure-pause.ts'
import { createGrants, type Held, type SettleAnswer } from './grants.ts'
import { createHandOver } from './hand-over.ts'
import { createHeartbeat } from './heartbeat.ts'
import type { Uncaught } from './interruption.ts'
import { createLanes } from './lanes.ts'
import { createLateFinish } from './late-finish.ts'
import { createLeaseWatch } from './lease-watch.ts'
import { createLoop, type Loop } from './loop.ts'
import { pollOf } from './poll.ts'
import { setUpQueues } from './queue-setup.ts'
import { createRetryBudgets } from './retry-budgets.ts'
import { createRunLog } from './run-log.ts'
import { createSettler } from './settler.ts'
import { createShutdown, type Loops } from './shutdown.ts'
import { createUnderWay } from './under-way.ts'
import { createWorker, type SlotUsage } from './worker.ts'

/** After a database did not take the count of runs that are about to begin. */
const BEGIN_RETRY_MS = 1000

export type { EngineOptions, Role } from './engine-options.ts'

export interface Engine {
  /** Resolves when the loops run. Starting twice is starting once. */
  start(): Promise<void>
  /** Stops claiming, waits up to `drainMs` for what runs, tells the rest to stop, and hands back what is left without counting the attempt. */
  stop(options?: { readonly drainMs?: number }): Promise<void>
  /** The runs whose work goes on here. */
  inProgress(): readonly Run[]
  /** Gives back at once whatever this process has, because an error that no code caught ends it; resolves after two seconds even when the store does not answer. */
  interrupt(uncaught: Uncaught): Promise<void>
  /** Everything due now is planned, carried out and settled: for tests on a clock that stands still. */
  settled(): Promise<void>
  /** Empty for an engine that only plans. */
  slots(): readonly SlotUsage[]
  /** Forgets everything at once, as a killed process would. */
  crash(): void
}

/** Turns of the event loop after which work still under way is taken to be waiting for time to pass. */
const QUIET_TURNS = 400
/** A write takes some thousands of them; one that takes more waits for something else. */
const WRITING_TURNS = 20_000

export function createEngine(options: EngineOptions): Engine {
  const { store, clock, workerId, leaseMs, roles, onFact } = options
  const timers = options.timers ?? systemTimers
  const random = options.random ?? Math.random
  const onError = (where: string) => (error: unknown, retryInMs: number) =>
    onFact({ kind: 'engine.error', where, error, retryInMs })
  const onRecovery = (where: string) => () => onFact({ kind: 'engine.recovered', where })

  const pollMs = pollOf(store.wake)
  const grants = createGrants()
  const begun = createBegunCounts(clock)
  const leaseWatch = createLeaseWatch({ clock, timers, grants, leaseMs, onFact })
  const heartbeat = createHeartbeat({ claims: store.claims, clock, grants, leaseMs, begun, leaseWatch, onFact })
  const { claims, history } = store
  const settler = createSettler({
    ...{ claims, history, timers, workerId, begun },
    ...{ onError: onError('settle'), onRecovery: onRecovery('settle') },
  })
  const handOver = createHandOver({
    ...{ claims, history, clock, timers },
    ...{ onError: onError('hand-over'), onRecovery: onRecovery('hand-over') },
  })
  const runLog = createRunLog({
    ...{ logs: store.logs, clock, timers },
    ...{ onError: onError('logs'), onRecovery: onRecovery('logs') },
  })
  const underWay = createUnderWay()
  const lateFinish = createLateFinish({ settler, underWay, onFact })
  /** Grows with everything from which something may follow. */
  let moves = 0

  const failurePause = createFailurePause({ store, onFact })
  const lanes = createLanes({
    lanes: store.lanes,
    clock,
    pollMs,
    onMoved(moved) {
      moves++
      if (moved.some(({ kind }) => kind === 'open')) loops.worker?.wake()
      if (moved.some(({ kind }) => kind === 'cancel')) loops.heartbeat?.wake()
    },
    wake: () => loops.lanes?.wake(),
  })
  const endings = createEndings({
    // In a process that works nothing, nobody looks at lanes.
    freed: (lane) => works && lanes.freed(lane),
    backfillEnded: () => loops.backfiller?.wake(),
    // One that cannot be looked at now is looked at with the next failure.
    failed: (run, reason) =>
      underWay.track(failurePause.failed(run, reason).catch((error) => onError('failure-pause')(error, 0))),
  })
  const onEnd: typeof endings = (run, verdict) => {
    moves++
    endings(run, verdict)
  }

  const budgets = createRetryBudgets(options.queues, clock)
  const worker = createWorker({
    claims,
    clock,
    grants,
    begun,
    onError(error) {
      onError('begin')(error, BEGIN_RETRY_MS)
      // No slot need be busy whose end would wake the worker.
      timers.set(BEGIN_RETRY_MS, () => loops.worker?.wake())
    },
    onRecovery: onRecovery('begin'),
    queues: options.queues,
    workerId,
    leaseMs,
    pollMs,
    attempt(held) {
      moves++
      underWay.begin()
      carryOut(held)
    },
    cancel: (held) => giveUp(held, { kind: 'final', state: 'cancelled' }),
    wake: () => loops.worker?.wake(),
  })
  const carryOut = createAttempt(
    {
      ...{ ...options, timers, random, heartbeat, settler, budgets, runLog, onEnd },
      handOver: handOver.add,
      lateFinish: lateFinish.add,
      completionKey: createCompletionKey(() => store.documents),
    },
    {
      ended: worker.slots.ended,
      settled(held) {
        worker.slots.settled(held)
        lateFinish.settled(held)
        underWay.end()
      },
    },
  )
  const duties = createDuties({ ...options, random, pollMs, onEnd, onBackfillStep: () => moves++ })

  const beat = createBeat(options, { busy: () => worker.busy, onDrain: () => void shutdown.drain() })

  const loop = (where: string, pass: () => Promise<number>): Loop =>
    createLoop({ timers, pass, onError: onError(where), onRecovery: onRecovery(where) })
  let isClaimUnanswered = false
  const claim = async (): Promise<number> => {
    // The store may carry out a claim whose answer is lost, and those runs then wait for a lease to end. One lost answer is enough.
    if (isClaimUnanswered) await store.now()
    isClaimUnanswered = true
    const nextMs = await worker.pass()
    isClaimUnanswered = false
    leaseWatch.begin()
    return nextMs
  }
  const schedules = roles.includes('scheduler')
  const works = roles.includes('worker')
  const loops: Loops = {
    planner: schedules ? loop('planner', duties.planner.pass) : undefined,
    reaper: loop('reaper', duties.reaper.pass),
    janitor: schedules ? loop('janitor', duties.janitor.pass) : undefined,
    backfiller: schedules ? loop('backfiller', duties.backfiller.pass) : undefined,
    lanes: works ? loop('lanes', lanes.pass) : undefined,
    worker: works ? loop('worker', claim) : undefined,
    heartbeat: works ? loop('heartbeat', heartbeat.pass) : undefined,
    beat: loop('beat', beat.pass),
  }

  let unlisten: (() => Promise<void>) | null = null
  let unwatch = (): void => {}
  let life: 'new' | 'started' | 'stopped' = 'new'
  let stopping: Promise<void> | null = null

  /** Hands back or ends a run that was granted and never begun. */
  const giveUp = (held: Held, verdict: Verdict): void => {
    underWay.begin()
    held.verdict = verdict
    held.onSettled = givenUp
    settler.add(held)
  }

  const givenUp = (held: Held, answer: SettleAnswer): void => {
    const { run } = held
    grants.remove(held)
    underWay.end()
    if (answer !== 'accepted' || held.verdict?.kind !== 'final') return
    onFact({ kind: 'run.cancelled', run })
    onEnd(run, held.verdict)
  }

  const shutdown = createShutdown({
    grants,
    worker,
    loops,
    settler,
    handOver,
    runLog,
    leaseWatch,
    duties,
    underWay,
    timers,
    onFact,
    giveUp,
    leave: () => store.workers.leave(workerId),
    unlisten: async () => unlisten?.(),
    unwatch: () => unwatch(),
  })

  return {
    async start() {
      if (life !== 'new') return
      life = 'started'
      try {
        await setUpQueues(store.queues, options.queues)
        unwatch = store.failovers.onFailover((failover) => onFact({ kind: 'store.failed_over', failover }))
        unlisten = await store.wake.listen(({ kind }) => {
          if (kind === 'runs' || kind === 'all') {
            loops.worker?.wake()
            lanes.heard()
          }
          if (kind === 'schedules' || kind === 'all') {
            loops.planner?.wake()
            loops.backfiller?.wake()
          }
          // Not on `all`: a renewal is a write, and two processes on one file would wake each other for ever.
          if (kind === 'cancels') loops.heartbeat?.wake()
        })
      } catch (error) {
        life = 'new'
        unwatch()
        throw error
      }
      for (const each of Object.values(loops)) each?.start()
    },
    stop({ drainMs = 30_000 } = {}) {
      if (life === 'new') life = 'stopped'
      if (life === 'stopped') return stopping ?? Promise.resolve()
      life = 'stopped'
      stopping = shutdown.inOrder(drainMs)
      return stopping
    },
    inProgress: () => shutdown.inProgress().map(({ run }) => run),
    async interrupt(uncaught) {
      if (life === 'new') return
      life = 'stopped'
      stopping = shutdown.atOnce(uncaught)
      await stopping
    },
    async settled() {
      for (let before = -1; before !== moves; ) {
        before = moves
        if (works) await heartbeat.pass()
        if (schedules) await duties.planner.pass()
        await duties.reaper.pass()
        if (works) await lanes.sweep()
        if (schedules) await duties.backfiller.pass()
        if (works) await claim()
        for (let turn = 0; turn < QUIET_TURNS && underWay.count > 0; turn++) await new Promise(setImmediate)
        for (let turn = 0; turn < WRITING_TURNS && settler.isWriting(); turn++) await new Promise(setImmediate)
        await runLog.idle()
      }
    },
    slots: () => (works ? worker.usage() : []),
    crash() {
      life = 'stopped'
      shutdown.silently()
    },
  }
}
