/** Stops an app within a bounded time; the error, and so the exit code, reports what did not stop cleanly. */
import type { EngineEvent } from '../observe/engine-event.ts'
import { coreOf } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import { formatDuration } from '../time/duration.ts'
import { systemTimers } from '../time/timers.ts'
import { waitForStop } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'

/** After the drain: handlers react to their signal, the worker writes verdicts and log lines and releases leases, the store closes. */
const CLOSING_MS = 15_000
/** Maximum number of job names in the error. */
const MAX_NAMED = 5

type Incomplete = Extract<EngineEvent, { kind: 'stop.incomplete' }>

export async function stopApp(app: Everytick, drainMs: number): Promise<void> {
  let incomplete: Incomplete | null = null
  const unsubscribe = coreOf(app).hub.onEvent((fact) => {
    if (fact.kind === 'stop.incomplete') incomplete = fact
  })
  const inTime = await isDoneWithin(drainMs + CLOSING_MS, app.stop({ drain: drainMs })).finally(unsubscribe)
  if (incomplete) throw incompleteError(incomplete)
  if (inTime) return
  throw new UsageError(`the app did not stop within ${formatDuration(drainMs + CLOSING_MS)}`, {
    code: 'STOP_TIMEOUT',
    hint: 'check that the database is reachable. Other workers execute the runs of this process again when their leases end',
  })
}

export interface ServiceOptions {
  readonly app: Everytick
  /** How long to wait for running runs. */
  readonly drainMs: number
  /** Stops after this many seconds. */
  readonly seconds?: number | undefined
  /** Called on the first request to stop. */
  readonly onEnding?: (() => void) | undefined
  /** Starts the app and its servers; `isEnding` returns whether a stop was requested meanwhile. */
  start(isEnding: () => boolean): Promise<void>
}

/** Starts, waits for a stop signal or `seconds`, then stops. */
export async function runUntilStopped({ app, drainMs, seconds, onEnding, start }: ServiceOptions): Promise<void> {
  let stopping: Promise<void> | null = null
  const stop = (): Promise<void> => {
    stopping ??= stopApp(app, drainMs)
    // Awaited below; while start() is still pending, a failure here must not become an unhandled rejection.
    stopping.catch(() => {})
    return stopping
  }
  // Inside the signal handler: the app also stops on SIGTERM, and the first stop call sets the drain.
  const end = waitForStop(seconds, () => {
    onEnding?.()
    void stop()
  })
  try {
    await Promise.race([start(() => stopping !== null).then(() => end), end])
  } catch (error) {
    // The first error is the one to show.
    await stop().catch(() => {})
    throw error
  }
  await stop()
}

function incompleteError({ drainMs, interrupted, unwritten }: Incomplete): UsageError {
  const late = [...new Set(interrupted.map(({ job }) => job))]
  const jobs = late.length > MAX_NAMED ? [...late.slice(0, MAX_NAMED), '…'] : late
  const [runs, results] = [interrupted.length, unwritten.length]
  const parts = [
    ...(runs > 0 ? [`${counted(runs, 'run')} did not end within ${formatDuration(drainMs)} (${jobs.join(', ')})`] : []),
    ...(results > 0 ? [`${counted(results, 'result')} could not be written to the database`] : []),
  ]
  return new UsageError(parts.join('; '), {
    code: 'DRAIN_EXCEEDED',
    hint: 'these runs go back to the queue. Increase --drain, or end handlers when ctx.signal aborts',
  })
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

async function isDoneWithin(ms: number, work: Promise<void>): Promise<boolean> {
  let cancel = (): void => {}
  const tooLate = new Promise<false>((resolve) => {
    cancel = systemTimers.set(ms, () => resolve(false))
  })
  return Promise.race([work.then(() => true), tooLate]).finally(() => cancel())
}
