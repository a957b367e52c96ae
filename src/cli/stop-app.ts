/** Stops an app within a bounded time, and says in an error, and so in the exit code, what could not be ended in order. */
import type { EngineEvent } from '../observe/engine-event.ts'
import { coreOf } from '../scheduler/core.ts'
import type { Everytick } from '../scheduler.ts'
import { formatDuration } from '../time/duration.ts'
import { systemTimers } from '../time/timers.ts'
import { waitForStop } from './stop-signal.ts'
import { UsageError } from './usage-error.ts'

/** After the drain: handlers heed their signal, verdicts and log lines are written, leases are released, the store closes. */
const CLOSING_MS = 15_000
/** More jobs are not named. */
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
    hint: 'is the database reachable? Runs of this process are executed again when their leases end',
  })
}

export interface ServiceOptions {
  readonly app: Everytick
  /** How long runs in progress are waited for. */
  readonly drainMs: number
  /** Ends by itself after so long. */
  readonly seconds?: number | undefined
  /** Called with the first request to end. */
  readonly onEnding?: (() => void) | undefined
  /** Starts the app, and whatever else there is; `isEnding` says whether there is a request to end meanwhile. */
  start(isEnding: () => boolean): Promise<void>
}

/** Starts, goes on until the process is asked to end, and stops. */
export async function runUntilStopped({ app, drainMs, seconds, onEnding, start }: ServiceOptions): Promise<void> {
  let stopping: Promise<void> | null = null
  const stop = (): Promise<void> => {
    stopping ??= stopApp(app, drainMs)
    // Awaited below; a start that still waits must not make this an unhandled rejection.
    stopping.catch(() => {})
    return stopping
  }
  // Within the signal: an app stops by itself on SIGTERM, and the first call decides about the drain.
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
    hint: 'those runs go back to the queue. Raise --drain, or let handlers end when ctx.signal aborts',
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
