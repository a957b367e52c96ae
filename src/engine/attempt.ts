/** Carries out one granted run, as a chain: find the job, read the payload, run with a deadline, name the outcome, settle. */
import { EverytickError } from '../errors.ts'
import { toJsonText } from '../json.ts'
import type { Fact } from '../observe/fact.ts'
import { Discard, RetryAfter } from '../run/control.ts'
import { type Outcome, settle } from '../run/settle.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { createContext, type JobContext } from './context.ts'
import type { Endings } from './endings.ts'
import type { Held, StopReason } from './grants.ts'
import type { Heartbeat } from './heartbeat.ts'
import { report } from './report.ts'
import type { RetryBudgets } from './retry-budgets.ts'
import { runError } from './run-error.ts'
import type { Settler } from './settler.ts'

/** A job as the engine needs it. */
export interface EngineJob {
  readonly name: string
  /** Checks and converts a stored payload; it may be older than the code. */
  parse(payload: unknown): unknown
  run(payload: never, ctx: JobContext): unknown
}

export interface AttemptOptions {
  readonly jobs: ReadonlyMap<string, EngineJob>
  readonly clock: Clock
  readonly timers: Timers
  readonly heartbeat: Heartbeat
  readonly settler: Settler
  readonly budgets: RetryBudgets
  readonly workerId: string
  readonly leaseMs: number
  readonly random: () => number
  readonly onFact: (fact: Fact) => void
  readonly onEnd: Endings
}

/** How long a run of an unknown job rests before the next worker may look at it. */
const UNKNOWN_JOB_REST_MS = 5000
/** How long work that was told to stop may take before its slot is given to others. */
const STOP_GRACE_MS = { cancelled: 10_000, lease_lost: 10_000, stopping: 1000 }

/** Calls `ended` when the work is over and its slot free, resolves when the verdict is written; never rejects. */
export async function attempt(held: Held, options: AttemptOptions, ended: () => void): Promise<void> {
  const { clock, random, settler, budgets, workerId, onFact } = options
  const { run } = held
  const startedAt = clock.elapsed()
  onFact({ kind: 'run.started', run, at: clock.now() })
  const outcome = await carryOut(held, options)
  held.ended = true
  ended()
  const settled = settle({ ...run, cancelRequested: held.stopped === 'cancelled' }, outcome, random())
  const verdict = budgets.spend(run.queue, settled)
  const { progress } = held
  const answer = await settler.add({ id: run.id, fence: run.fence, workerId, verdict, progress })
  report(run, { verdict, answer, durationMs: clock.elapsed() - startedAt, onFact })
  if (answer === 'accepted') options.onEnd(run, verdict)
}

async function carryOut(held: Held, options: AttemptOptions): Promise<Outcome> {
  const { run } = held
  const job = options.jobs.get(run.job)
  if (!job) {
    options.onFact({ kind: 'job.unknown', run, workerId: options.workerId })
    return { kind: 'released', delayMs: UNKNOWN_JOB_REST_MS, why: 'unknown_job' }
  }
  const { timers } = options
  let cancelTimer = (): void => {}
  const outcome = await new Promise<Outcome>((end) => {
    const { timeoutMs } = run.policy
    if (timeoutMs !== undefined) {
      const error = new EverytickError('RUN_TIMEOUT', `the attempt took longer than ${timeoutMs} ms`)
      cancelTimer = timers.set(timeoutMs, () => held.stop('timed_out', error))
    }
    held.onStop = (reason) => {
      cancelTimer()
      const left = unheeded(reason)
      cancelTimer = timers.set(reason === 'timed_out' ? 0 : STOP_GRACE_MS[reason], () => end(left))
    }
    runHandler(job, held, options).then(end)
  })
  cancelTimer()
  held.onStop = null
  return outcome
}

/** How the attempt ends when the handler does not heed its signal. A timeout ends at once: the next attempt is fenced anyway. */
function unheeded(reason: StopReason): Outcome {
  switch (reason) {
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'stopping':
      return { kind: 'released', delayMs: 0, why: 'stopping' }
    case 'lease_lost':
      return { kind: 'lost' }
    case 'timed_out':
      return {
        kind: 'timed_out',
        error: { name: 'EverytickError', message: 'the attempt took longer than its timeout', code: 'RUN_TIMEOUT' },
      }
  }
}

async function runHandler(job: EngineJob, held: Held, options: AttemptOptions): Promise<Outcome> {
  const { heartbeat, leaseMs, onFact, clock } = options
  let payload: unknown
  try {
    payload = await job.parse(held.run.payload)
  } catch (error) {
    // The stored payload will not become valid by waiting; an operator may redrive it after a deploy.
    return { kind: 'discarded', error: runError(error) }
  }
  try {
    const ctx = createContext({ held, startedAt: clock.now(), leaseMs, heartbeat, onFact })
    const returned = await job.run(payload as never, ctx)
    if (returned === undefined) return { kind: 'returned', result: null }
    return { kind: 'returned', result: JSON.parse(toJsonText(returned, { what: `the result of job "${job.name}"` })) }
  } catch (error) {
    if (error instanceof RetryAfter) return { kind: 'postponed', delayMs: error.delayMs }
    // JSON_: the work was done, only its result cannot be stored, and doing it again would not help.
    const hopeless = error instanceof Discard || (error instanceof EverytickError && error.code.startsWith('JSON_'))
    if (hopeless) return { kind: 'discarded', error: runError(error) }
    // Work that ends by throwing after it was told to stop has stopped for that reason.
    if (held.stopped === 'cancelled' || held.stopped === 'stopping') return unheeded(held.stopped)
    return { kind: 'threw', error: runError(error) }
  }
}
