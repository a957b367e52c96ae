/** Puts the loops of one process together and gives them one life: start, stop with a drain, crash; each loop is a file of its own. */

import type { Run } from '../run/run.ts'
import type { Verdict } from '../run/settle.ts'
import { systemTimers } from '../time/timers.ts'
import { createAttempt } from './attempt.ts'
import { createBackgroundTasks } from './background-tasks.ts'
import { createBegunCounts } from './begun.ts'
import { createCompletionKey } from './completion-key.ts'
import { createEndings } from './endings.ts'
import type { EngineOptions } from './engine-options.ts'
import { createFailurePause } from './failure-pause.ts'
import { createGroups } from './groups.ts'
import { createHandOver } from './hand-over.ts'
import type { Uncaught } from './interruption.ts'
import { createLateFinish } from './late-finish.ts'
import { createLeaseRenewal } from './lease-renewal.ts'
import { createLeaseWatch } from './lease-watch.ts'
import { createLeasedRuns, type LeasedRun, type SettleAnswer } from './leased-runs.ts'
import { createLoop, type Loop } from './loop.ts'
import { pollOf } from './poll.ts'
import { createPresence } from './presence.ts'
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
  /** Everything due now is planned, executed and settled: for tests on a clock that stands still. */
  settled(): Promise<void>
  /** Empty for an engine that only plans. */
  slots(): readonly SlotUsage[]
  /** Forgets everything at once, as a killed process would. */
  crash(): void
}

/** Turns of the event loop after which work still in flight is taken to be waiting for time to pass. */
const QUIET_ROUNDS = 400
/** A write takes some thousands of them; one that takes more waits for something else. */
const WRITING_ROUNDS = 20_000

export function createEngine(options: EngineOptions): Engine {
  const { store, clock, workerId, leaseMs, roles, onEvent } = options
  const timers = options.timers ?? systemTimers
  const random = options.random ?? Math.random
  const onError = (where: string) => (error: unknown, retryInMs: number) =>
    onEvent({ kind: 'engine.error', where, error, retryInMs })
  const onRecovery = (where: string) => () => onEvent({ kind: 'engine.recovered', where })

  const pollMs = pollOf(store.wake)
  const leasedRuns = createLeasedRuns()
  const begun = createBegunCounts(clock)
  const leaseWatch = createLeaseWatch({ clock, timers, leasedRuns, leaseMs, onEvent })
  const leaseRenewal = createLeaseRenewal({
    claims: store.claims,
    clock,
    leasedRuns,
    leaseMs,
    begun,
    leaseWatch,
    onEvent,
  })
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
  const lateFinish = createLateFinish({ settler, underWay, onEvent })
  /** Grows with everything from which something may follow. */
  let moves = 0

  const failurePause = createFailurePause({ store, onEvent })
  const groups = createGroups({
    groups: store.groups,
    clock,
    pollMs,
    onMoved(moved) {
      moves++
      if (moved.some(({ kind }) => kind === 'ready')) loops.worker?.wake()
      if (moved.some(({ kind }) => kind === 'cancel')) loops.leaseRenewal?.wake()
    },
    wake: () => loops.groups?.wake(),
  })
  const endings = createEndings({
    // In a process that works nothing, nobody looks at groups.
    freed: (group) => works && groups.freed(group),
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
    leasedRuns,
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
    attempt(leased) {
      moves++
      underWay.begin()
      execute(leased)
    },
    cancel: (leased) => giveUp(leased, { kind: 'final', state: 'cancelled' }),
    wake: () => loops.worker?.wake(),
  })
  const execute = createAttempt(
    {
      ...{ ...options, timers, random, heartbeat: leaseRenewal, settler, budgets, runLog, onEnd },
      handOver: handOver.add,
      lateFinish: lateFinish.add,
      completionKey: createCompletionKey(() => store.documents),
    },
    {
      ended: worker.slots.ended,
      settled(leased) {
        worker.slots.settled(leased)
        lateFinish.settled(leased)
        underWay.end()
      },
    },
  )
  const backgroundTasks = createBackgroundTasks({ ...options, random, pollMs, onEnd, onBackfillStep: () => moves++ })

  const presence = createPresence(options, { busy: () => worker.busy, onDrain: () => void shutdown.drain() })

  const loop = (where: string, pass: () => Promise<number>): Loop =>
    createLoop({ timers, pass, onError: onError(where), onRecovery: onRecovery(where) })
  let isClaimUnanswered = false
  const claim = async (): Promise<number> => {
    // The store may execute a claim whose answer is lost, and those runs then wait for a lease to end. One lost answer is enough.
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
    planner: schedules ? loop('planner', backgroundTasks.planner.pass) : undefined,
    reaper: loop('reaper', backgroundTasks.reaper.pass),
    janitor: schedules ? loop('janitor', backgroundTasks.janitor.pass) : undefined,
    backfiller: schedules ? loop('backfiller', backgroundTasks.backfiller.pass) : undefined,
    groups: works ? loop('groups', groups.pass) : undefined,
    worker: works ? loop('worker', claim) : undefined,
    leaseRenewal: works ? loop('leaseRenewal', leaseRenewal.pass) : undefined,
    presence: loop('presence', presence.pass),
  }

  let unlisten: (() => Promise<void>) | null = null
  let unwatch = (): void => {}
  let life: 'new' | 'started' | 'stopped' = 'new'
  let stopping: Promise<void> | null = null

  /** Hands back or ends a run that was claimed and never begun. */
  const giveUp = (leased: LeasedRun, verdict: Verdict): void => {
    underWay.begin()
    leased.verdict = verdict
    leased.onSettled = givenUp
    settler.add(leased)
  }

  const givenUp = (leased: LeasedRun, answer: SettleAnswer): void => {
    const { run } = leased
    leasedRuns.remove(leased)
    underWay.end()
    if (answer !== 'accepted' || leased.verdict?.kind !== 'final') return
    onEvent({ kind: 'run.cancelled', run })
    onEnd(run, leased.verdict)
  }

  const shutdown = createShutdown({
    leasedRuns,
    worker,
    loops,
    settler,
    handOver,
    runLog,
    leaseWatch,
    backgroundTasks,
    underWay,
    timers,
    onEvent,
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
        unwatch = store.failovers.onFailover((failover) => onEvent({ kind: 'store.failed_over', failover }))
        unlisten = await store.wake.listen(({ kind }) => {
          if (kind === 'runs' || kind === 'all') {
            loops.worker?.wake()
            groups.heard()
          }
          if (kind === 'schedules' || kind === 'all') {
            loops.planner?.wake()
            loops.backfiller?.wake()
          }
          // Not on `all`: a renewal is a write, and two processes on one file would wake each other for ever.
          if (kind === 'cancels') loops.leaseRenewal?.wake()
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
        if (works) await leaseRenewal.pass()
        if (schedules) await backgroundTasks.planner.pass()
        await backgroundTasks.reaper.pass()
        if (works) await groups.sweep()
        if (schedules) await backgroundTasks.backfiller.pass()
        if (works) await claim()
        for (let turn = 0; turn < QUIET_ROUNDS && underWay.count > 0; turn++) await new Promise(setImmediate)
        for (let turn = 0; turn < WRITING_ROUNDS && settler.isWriting(); turn++) await new Promise(setImmediate)
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
