/** Waits for the end of a job in BullMQ: looks, waits for an event or a while, looks again; what is seen means is `ending.ts`. */
import { EverytickError } from '../../errors.ts'
import { AttemptFailed } from '../../run/control.ts'
import { systemTimers } from '../../time/timers.ts'
import { answered } from './answered.ts'
import { type Attempt, type Failure, firstStepOf, type Seen, type Step, stepOf } from './ending.ts'
import type { Listen } from './link.ts'
import type { BullJob, BullQueue } from './package.ts'

export interface Waited extends Attempt {
  readonly run: string
  readonly signal: AbortSignal
  /** Does nothing when the job is there already. */
  readonly add: () => Promise<void>
  /** What the job is to say of the attempt that sets it going again. */
  readonly data: unknown
}

/** Events may be lost, most of all while they are only just being listened to: so the first looks come quickly. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** Answers what the job returned. */
export async function endOf(queue: BullQueue, listen: Listen, waited: Waited): Promise<unknown> {
  const { run, signal } = waited
  const bell = createBell(signal)
  const deaf = listen(run, bell.ring)
  try {
    let step = await begin(queue, waited)
    for (let pauseMs = FIRST_PAUSE_MS; step.kind === 'wait'; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      await bell.rung(pauseMs)
      signal.throwIfAborted()
      step = await pollAgain(queue, waited)
    }
    if (step.kind === 'failed') throw step.error
    return step.kind === 'succeeded' ? step.result : null
  } catch (error) {
    if (signal.aborted) await withdraw(queue, run, signal.reason)
    throw error
  } finally {
    deaf()
    bell.away()
  }
}

async function begin(queue: BullQueue, waited: Waited): Promise<Step> {
  const { run, signal, data, add } = waited
  await add()
  const { seen, job } = await answered(look(queue, run), queue.name, signal)
  const step = firstStepOf(seen, waited)
  if (step.kind !== 'again' || !job) return step
  await answered(goAgain(job, data), queue.name, signal)
  return { kind: 'wait' }
}

/** In one go, so that no signal comes in between. Whoever came first has set it going, and then there is a job to join. */
async function goAgain(job: BullJob, data: unknown): Promise<void> {
  await job.updateData(data)
  await job.retry('failed', { resetAttemptsMade: true }).catch((error: unknown) => {
    if (!/not in the failed state|Missing/.test(String(error))) throw error
  })
}

/** What cannot be read now may go on all the same: only the run's own timeout ends a wait for a Redis that is away. */
async function pollAgain(queue: BullQueue, waited: Waited): Promise<Step> {
  try {
    const { seen } = await answered(look(queue, waited.run), queue.name, waited.signal)
    return stepOf(seen, waited)
  } catch (error) {
    if (error instanceof AttemptFailed) return { kind: 'wait' }
    throw error
  }
}

async function look(queue: BullQueue, id: string): Promise<{ readonly seen: Seen; readonly job?: BullJob }> {
  const state = await queue.getJobState(id)
  if (state === 'unknown') return { seen: { state: 'gone' } }
  if (state !== 'completed' && state !== 'failed') return { seen: { state: 'open' } }
  const job = await queue.getJob(id)
  if (!job) return { seen: { state: 'gone' } }
  if (state === 'completed') return { seen: { state, value: job.returnvalue }, job }
  return { seen: { state, failure: failureOf(job) }, job }
}

function failureOf({ data, opts, failedReason, stacktrace, attemptsMade, finishedOn }: BullJob): Failure {
  const { attempt } = (data ?? {}) as { attempt?: unknown }
  return {
    reason: failedReason || 'the job failed and does not say why',
    stack: stacktrace?.at(-1) ?? null,
    finishedAt: finishedOn ?? null,
    attemptsMade,
    attempts: opts.attempts ?? 1,
    forAttempt: typeof attempt === 'number' ? attempt : null,
  }
}

/**
 * Nobody wants a job any more whose run was cancelled or whose attempt timed out, unless it has begun, which BullMQ lets
 * nobody end from outside. A worker that stops or lost its lease leaves it to the next.
 */
async function withdraw(queue: BullQueue, id: string, reason: unknown): Promise<void> {
  if (!(reason instanceof EverytickError) || !UNWANTED.has(reason.code)) return
  try {
    const state = await queue.getJobState(id)
    if (WAITING.has(state)) await queue.remove(id)
  } catch {
    // Redis is away: the job may be done although nobody waits for it.
  }
}
const UNWANTED = new Set<string>(['RUN_CANCELLED', 'RUN_TIMEOUT'])
const WAITING = new Set(['waiting', 'delayed', 'prioritized', 'paused', 'waiting-children'])

/** Rings by an event, by the signal, or after a while; what rings while nobody waits is not lost. */
function createBell(signal: AbortSignal) {
  let rang = false
  let answer = (): void => {}
  const ring = (): void => {
    rang = true
    answer()
  }
  signal.addEventListener('abort', ring, { once: true })
  return {
    ring,
    rung: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const cancel = systemTimers.set(ms, ring)
        answer = () => {
          cancel()
          rang = false
          resolve()
        }
        if (rang || signal.aborted) answer()
      }),
    away: () => signal.removeEventListener('abort', ring),
  }
}
