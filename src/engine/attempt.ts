/** Carries out one granted run, as a chain: find the job, read the payload, run with a deadline, name the outcome, settle. */
import { toJsonText } from '../json.ts'
import type { Fact } from '../observe/fact.ts'
import type { AttemptSpan, Tracer } from '../observe/tracer.ts'
import { type Ended, type Outcome, settle, type Verdict } from '../run/settle.ts'
import type { Clock } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { type ContextTools, type JobContext, RunContext } from './context.ts'
import { withinRun } from './current-run.ts'
import type { Endings } from './endings.ts'
import type { Held, SettleAnswer } from './grants.ts'
import type { HandingOver, HandOverAnswer } from './hand-over.ts'
import type { LateFinish } from './late-finish.ts'
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
  readonly onFact: (fact: Fact) => void
  readonly onEnd: Endings
  readonly tracer?: Tracer | undefined
}

/** Whoever gave the slot is told when it is free, and when there is nothing more to write. */
export interface Slots {
  ended(held: Held, at: number): void
  settled(held: Held): void
}

/** How long a run of an unknown job rests before the next worker may look at it. */
const UNKNOWN_JOB_REST_MS = 5000
const RETURNED_NOTHING: Outcome = { kind: 'returned', result: null }

/**
 * Answers a function that carries out one grant, and never throws. Work that ends without waiting for anything costs no
 * promise: thousands of such runs a second pass here.
 */
export function createAttempt(options: AttemptOptions, slots: Slots): (held: Held) => void {
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
    onFact,
    onEnd,
    tracer,
  } = options
  /** Of attempts under way; stays empty when nobody follows them. */
  const spans = new Map<Held, AttemptSpan>()

  const settled = (held: Held, answer: SettleAnswer): void => {
    const { run, tookMs } = held
    const verdict = held.verdict!
    report(run, { verdict, answer, durationMs: tookMs, onFact })
    if (answer === 'accepted') onEnd(run, verdict)
    slots.settled(held)
  }

  const end = (held: Held, outcome: Ended): void => {
    const at = clock.elapsed()
    held.tookMs = at - held.startedAt
    runLog.ended(held)
    if (tracer) {
      spans.get(held)?.end(outcome, held.tookMs)
      spans.delete(held)
    }
    if (outcome.kind === 'handed_over') handOver(held, outcome.waitMs, handedOver)
    else settleAs(held, outcome)
    slots.ended(held, at)
  }

  const settleAs = (held: Held, outcome: Outcome): void => {
    held.verdict = budgets.spend(held.run.queue, verdictOn(held, outcome))
    held.onSettled = settled
    settler.add(held)
  }

  const verdictOn = ({ run, stopped }: Held, outcome: Outcome): Verdict => {
    const { attempt, fence, policy } = run
    return settle(stopped === 'cancelled' ? { attempt, fence, policy, cancelRequested: true } : run, outcome, random())
  }

  /** Work that ends by throwing has done what its signal asked for; work that is done may leave no other trace. */
  const endLate = (held: Held, outcome: Ended): void => {
    if (outcome.kind === 'returned' || outcome.kind === 'discarded') lateFinish(held, verdictOn(held, outcome))
  }

  const handedOver = (held: Held, answer: HandOverAnswer): void => {
    const { run } = held
    if (answer === 'cancelling') {
      settleAs(held, { kind: 'cancelled' })
      return
    }
    onFact({ kind: answer === 'handed_over' ? 'run.handed_over' : 'run.refused', run })
    slots.settled(held)
  }
  const watching = { clock, timers, end, endLate }

  const follow = (tracer: Tracer, job: EngineJob, { held, ctx }: Begun): Ended | Promise<Ended> => {
    const span = tracer.begin(held.run)
    spans.set(held, span)
    return span.within(() => begin(job, held, ctx))
  }

  return (held) => {
    const { run } = held
    const job = jobs.get(run.job)
    if (!job) {
      onFact({ kind: 'job.unknown', run, workerId })
      end(held, { kind: 'released', delayMs: UNKNOWN_JOB_REST_MS, why: 'unknown_job' })
      return
    }
    const now = clock.now()
    onFact({ kind: 'run.started', run, at: now })
    const ctx = new RunContext(held, now, options)
    const outcome = withinRun(run, () => (tracer ? follow(tracer, job, { held, ctx }) : begin(job, held, ctx)))
    if (outcome instanceof Promise) watch(held, outcome, watching)
    else end(held, outcome)
  }
}

/** Never throws nor rejects. */
function begin(job: EngineJob, held: Held, ctx: JobContext): Ended | Promise<Ended> {
  let payload: unknown
  try {
    payload = job.parse(held.run.payload)
    if (promiseOf(payload)) return beginLater(job, held, { payload, ctx })
  } catch (error) {
    return unreadable(error)
  }
  return carryOut(job, held, { payload, ctx })
}

interface Begun {
  readonly held: Held
  readonly ctx: JobContext
}

interface Given {
  readonly payload: unknown
  readonly ctx: JobContext
}

async function beginLater(job: EngineJob, held: Held, { payload, ctx }: Given): Promise<Ended> {
  let read: unknown
  try {
    read = await payload
  } catch (error) {
    return unreadable(error)
  }
  return carryOut(job, held, { payload: read, ctx })
}

/** The stored payload will not become valid by waiting; an operator may redrive it after a deploy. */
const unreadable = (error: unknown): Outcome => ({ kind: 'discarded', error: runError(error) })

function carryOut(job: EngineJob, held: Held, { payload, ctx }: Given): Ended | Promise<Ended> {
  try {
    const returned = job.run(payload as never, ctx)
    if (returned === undefined) return RETURNED_NOTHING
    const promise = promiseOf(returned)
    if (!promise) return named(job, held, returned)
    return promise.then(
      (result) => named(job, held, result),
      (error: unknown) => outcomeOfThrown(held, error),
    )
  } catch (error) {
    return outcomeOfThrown(held, error)
  }
}

function named(job: EngineJob, held: Held, returned: unknown): Ended {
  if (returned === undefined) return RETURNED_NOTHING
  try {
    return { kind: 'returned', result: JSON.parse(toJsonText(returned, { what: `the result of job "${job.name}"` })) }
  } catch (error) {
    return outcomeOfThrown(held, error)
  }
}
