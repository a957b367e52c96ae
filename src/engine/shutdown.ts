/** Ends what an engine does: in order with a drain, at once because an error ends the process, or silently as a killed process would; which of them is for its caller to say. */
import { EverytickError } from '../errors.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { Run } from '../run/run.ts'
import { RETURNED, type Verdict } from '../run/settle.ts'
import type { Timers } from '../time/timers.ts'
import type { BackgroundTasks } from './background-tasks.ts'
import type { HandingOver } from './hand-over.ts'
import { interruptionOf, type Uncaught } from './interruption.ts'
import type { LeaseWatch } from './lease-watch.ts'
import type { LeasedRun, LeasedRuns } from './leased-runs.ts'
import type { Loop } from './loop.ts'
import type { RunLog } from './run-log.ts'
import type { Settler } from './settler.ts'
import type { UnderWay } from './under-way.ts'
import type { Worker } from './worker.ts'

const LOOPS = ['planner', 'reaper', 'janitor', 'backfiller', 'groups', 'worker', 'leaseRenewal', 'presence'] as const

/** Those that the roles of the process ask for. */
export type Loops = Readonly<Record<(typeof LOOPS)[number], Loop | undefined>>

export interface ShutdownOptions {
  readonly leasedRuns: LeasedRuns
  readonly worker: Pick<Worker, 'close'>
  readonly loops: Loops
  readonly settler: Settler
  readonly handOver: HandingOver
  readonly runLog: RunLog
  readonly leaseWatch: Pick<LeaseWatch, 'stop'>
  readonly backgroundTasks: Pick<BackgroundTasks, 'release'>
  readonly underWay: UnderWay
  readonly timers: Timers
  readonly onEvent: (fact: EngineEvent) => void
  /** Hands back or ends a run that was claimed and never begun. */
  readonly giveUp: (leased: LeasedRun, verdict: Verdict) => void
  /** Takes this process out of the list of workers. */
  readonly leave: () => Promise<void>
  readonly unlisten: () => Promise<void>
  readonly unwatch: () => void
}

export interface Shutdown {
  /** Claims and begins nothing more, and leaves what runs alone. */
  drain(): Promise<void>
  inOrder(drainMs: number): Promise<void>
  /** Runs whose work goes on. */
  inProgress(): readonly LeasedRun[]
  /** Resolves after two seconds even when the store does not answer. */
  atOnce(uncaught: Uncaught): Promise<void>
  silently(): void
}

/** For work that was told to stop, and for its verdict to be written. */
const LAST_WORDS_MS = 5000
/** For a process whose state is not known any more, to give back what it has. */
const AT_ONCE_MS = 2000

const runsOf = (leasedRuns: readonly LeasedRun[]): Run[] => leasedRuns.map(({ run }) => run)

export function createShutdown(options: ShutdownOptions): Shutdown {
  const {
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
  } = options

  const stopLoops = (...names: readonly (keyof Loops)[]): Promise<unknown> =>
    Promise.all(names.map((name) => loops[name]?.stop()))

  const drain = async (): Promise<void> => {
    handBack()
    await loops.worker?.stop()
    // Once more: a claim that was in flight may have brought some.
    handBack()
  }

  /** Nothing more is begun; what never was goes back, also what may happen at most once, because it has not happened. */
  const handBack = (): void => {
    for (const leased of worker.close()) options.giveUp(leased, RETURNED)
  }

  /** Takes on nothing new; what is in flight goes on. */
  const takeNothing = (): Promise<unknown> =>
    Promise.all([drain(), options.unlisten(), stopLoops('planner', 'reaper', 'janitor', 'backfiller')])

  /** The last of every orderly end: log lines, the loops that outlive the work, and what others wait for. */
  const endLoops = async (): Promise<void> => {
    await atMost(LAST_WORDS_MS, runLog.stop())
    await stopLoops('groups', 'leaseRenewal', 'presence')
    leaseWatch.stop()
    await Promise.allSettled([backgroundTasks.release(), options.leave()])
    options.unwatch()
  }

  const inProgress = (): LeasedRun[] => leasedRuns.all().filter(({ endAs }) => endAs !== null)

  const giveBackAll = async (uncaught: Uncaught): Promise<void> => {
    const stopped = takeNothing()
    for (const leased of inProgress()) {
      const { outcome, reason } = interruptionOf(uncaught, leased.run)
      // Before the signal: what the handler makes of it is too late.
      leased.endAs!(outcome)
      leased.stop('stopping', reason)
    }
    // What cannot be stopped in order ends with the process; the runs matter more.
    await stopped.catch(() => {})
    await underWay.none()
    await endLoops()
  }

  const silently = (): void => {
    settler.crash()
    handOver.crash()
    runLog.crash()
    worker.close()
    leaseWatch.stop()
    void stopLoops(...LOOPS)
    options.unwatch()
    void options.unlisten()
  }

  /** Waits until nothing is in flight, but no longer than `ms`. */
  const patience = (ms: number): Promise<void> => atMost(ms, underWay.none())

  const atMost = (ms: number, work: Promise<void>): Promise<void> =>
    new Promise((resolve) => {
      const cancel = timers.set(ms, resolve)
      void work.then(() => {
        cancel()
        resolve()
      })
    })

  return {
    drain,
    async inOrder(drainMs) {
      await takeNothing()
      await patience(drainMs)
      const error = new EverytickError('NOT_STARTED', 'the worker is stopping')
      const interrupted = leasedRuns.all().filter(({ verdict, leaving }) => verdict === null && !leaving)
      for (const leased of leasedRuns.all()) leased.stop('stopping', error)
      // With the database away there is nobody to tell; the leases end by themselves, and others go on.
      await patience(LAST_WORDS_MS)
      const unwritten = leasedRuns.all().filter(({ verdict }) => verdict !== null)
      if (interrupted.length + unwritten.length > 0)
        onEvent({ kind: 'stop.incomplete', drainMs, interrupted: runsOf(interrupted), unwritten: runsOf(unwritten) })
      settler.crash()
      handOver.crash()
      await endLoops()
    },
    inProgress,
    async atOnce(uncaught) {
      await atMost(AT_ONCE_MS, giveBackAll(uncaught))
      silently()
    },
    silently,
  }
}
