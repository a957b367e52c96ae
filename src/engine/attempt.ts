/** Executes one claimed run, as a chain: find the job, read the payload, run with a deadline, name the outcome, settle. */
import { toJsonText } from '../json.ts'
import type { EngineEvent } from '../observe/engine-event.ts'
import type { AttemptSpan, Tracer } from '../observe/tracer.ts'
import { type Ended, type Outcome, settle, type Verdict } from '../run/settle.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { type ContextTools, type JobContext, RunContext } from './context.ts'
import { withinRun } from './current-run.ts'
import type { Endings } from './endings.ts'
import type { HandingOver, HandOverAnswer } from './hand-over.ts'
import type { LateFinish } from './late-finish.ts'
import type { LeasedRun, SettleAnswer } from './leased-runs.ts'
import { outcomeOfThrown } from './outcome.ts'
import { report } from './report.ts'
import type { RetryBudgets } from './retry-budgets.ts'
import { runError } from './run-error.ts'
import type { Settler } from './settler.ts'
import { promiseOf, watch } from './watch.ts'

/** A job as the engine needs it. */
export interface EngineJob {
  readonly name: string
  /** Checks and converts a stored payload, which may be older than the code; a promise where that takes time. */
  parse(payload: unknown): unknown
  run(payload: never, ctx: JobContext): unknown
}

export interface AttemptOptions extends ContextTools {
  readonly jobs: ReadonlyMap<string, EngineJob>
  readonly clock: Clock
  readonly timers: Timers
  readonly settler: Settler
  readonly handOver: HandingOver['add']
  readonly lateFinish: LateFinish['add']
  readonly budgets: RetryBudgets
  readonly workerId: string
  readonly random: () => number
  readonly onEvent: (fact: EngineEvent) => void
  readonly onEnd: Endings
  readonly tracer?: Tracer | undefined
}

/** Whoever gave the slot is told when it is free, and when there is nothing more to write. */
export interface Slots {
  ended(leased: LeasedRun, at: number): void
  settled(leased: LeasedRun): void
}

/** How long a run of an unknown job rests before the next worker may look at it. */
const UNKNOWN_JOB_DELAY_MS = 5000
const RETURNED_NOTHING: Outcome = { kind: 'returned', result: null }

/**
 * Answers a function that executes one claim, and never throws. Work that ends without waiting for anything costs no
 * promise: thousands of such runs a second pass here.
 */
export function createAttempt(options: AttemptOptions, slots: Slots): (leased: LeasedRun) => void {
  const {
    jobs,
    clock,
    timers,
    random,
    settler,
    handOver,
    lateFinish,
    budgets,
    workerId,
    runLog,
    onEvent,
    onEnd,
    tracer,
  } = options
  /** Of attempts in flight; stays empty when nobody follows them. */
  const spans = new Map<LeasedRun, AttemptSpan>()

  const settled = (leased: LeasedRun, answer: SettleAnswer): void => {
    const { run, tookMs } = leased
    const verdict = leased.verdict!
    report(run, { verdict, answer, durationMs: tookMs, onEvent })
    if (answer === 'accepted') onEnd(run, verdict)
    slots.settled(leased)
  }

  const end = (leased: LeasedRun, outcome: Ended): void => {
    const at = clock.elapsed()
    leased.tookMs = at - leased.startedAt
    runLog.ended(leased)
    if (tracer) {
      spans.get(leased)?.end(outcome, leased.tookMs)
      spans.delete(leased)
    }
    if (outcome.kind === 'handed_over') handOver(leased, outcome.waitMs, handedOver)
    else settleAs(leased, outcome)
    slots.ended(leased, at)
  }

  const settleAs = (leased: LeasedRun, outcome: Outcome): void => {
    leased.verdict = budgets.spend(leased.run.queue, verdictOn(leased, outcome))
    leased.onSettled = settled
    settler.add(leased)
  }

  const verdictOn = ({ run, stopped }: LeasedRun, outcome: Outcome): Verdict => {
    const { attempt, fence, policy } = run
    return settle(stopped === 'cancelled' ? { attempt, fence, policy, cancelRequested: true } : run, outcome, random())
  }

  /** Work that ends by throwing has done what its signal asked for; work that is done may leave no other trace. */
  const endLate = (leased: LeasedRun, outcome: Ended): void => {
    if (outcome.kind === 'returned' || outcome.kind === 'discarded') lateFinish(leased, verdictOn(leased, outcome))
  }

  const handedOver = (leased: LeasedRun, answer: HandOverAnswer): void => {
    const { run } = leased
    if (answer === 'cancelling') {
      settleAs(leased, { kind: 'cancelled' })
      return
    }
    onEvent({ kind: answer === 'handed_over' ? 'run.handed_over' : 'run.refused', run })
    slots.settled(leased)
  }
  const watching = { clock, timers, end, endLate }

  const follow = (tracer: Tracer, job: EngineJob, { leased, ctx }: Begun): Ended | Promise<Ended> => {
    const span = tracer.begin(leased.run)
    spans.set(leased, span)
    return span.within(() => begin(job, leased, ctx))
  }

  return (leased) => {
    const { run } = leased
    const job = jobs.get(run.job)
    if (!job) {
      onEvent({ kind: 'job.unknown', run, workerId })
      end(leased, { kind: 'released', delayMs: UNKNOWN_JOB_DELAY_MS, why: 'unknown_job' })
      return
    }
    const now = clock.now()
    onEvent({ kind: 'run.started', run, at: now })
    const ctx = new RunContext(leased, now, options)
    const outcome = withinRun(run, () => (tracer ? follow(tracer, job, { leased, ctx }) : begin(job, leased, ctx)))
    if (outcome instanceof Promise) watch(leased, outcome, watching)
    else end(leased, outcome)
  }
}

/** Never throws nor rejects. */
function begin(job: EngineJob, leased: LeasedRun, ctx: JobContext): Ended | Promise<Ended> {
  let payload: unknown
  try {
    payload = job.parse(leased.run.payload)
    if (promiseOf(payload)) return beginLater(job, leased, { payload, ctx })
  } catch (error) {
    return unreadable(error)
  }
  return execute(job, leased, { payload, ctx })
}

interface Begun {
  readonly leased: LeasedRun
  readonly ctx: JobContext
}

interface Given {
  readonly payload: unknown
  readonly ctx: JobContext
}

async function beginLater(job: EngineJob, leased: LeasedRun, { payload, ctx }: Given): Promise<Ended> {
  let read: unknown
  try {
    read = await payload
  } catch (error) {
    return unreadable(error)
  }
  return execute(job, leased, { payload: read, ctx })
}

/** The stored payload will not become valid by waiting; an operator may retry it after a deploy. */
const unreadable = (error: unknown): Outcome => ({ kind: 'discarded', error: runError(error) })

function execute(job: EngineJob, leased: LeasedRun, { payload, ctx }: Given): Ended | Promise<Ended> {
  try {
    const returned = job.run(payload as never, ctx)
    if (returned === undefined) return RETURNED_NOTHING
    const promise = promiseOf(returned)
    if (!promise) return named(job, leased, returned)
    return promise.then(
      (result) => named(job, leased, result),
      (error: unknown) => outcomeOfThrown(leased, error),
    )
  } catch (error) {
    return outcomeOfThrown(leased, error)
  }
}

function named(job: EngineJob, leased: LeasedRun, returned: unknown): Ended {
  if (returned === undefined) return RETURNED_NOTHING
  try {
    return { kind: 'returned', result: JSON.parse(toJsonText(returned, { what: `the result of job "${job.name}"` })) }
  } catch (error) {
    return outcomeOfThrown(leased, error)
  }
}
