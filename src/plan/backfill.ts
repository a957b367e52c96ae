/** Decides, without I/O, the next step of a backfill: which occurrences of a past span to run, and which to keep; the engine executes the steps. */
import type { Json } from '../json.ts'
import type { Run, ScheduleRef } from '../run/run.ts'
import type { RunState } from '../run/state.ts'
import { type Schedule, seedOf } from '../schedule/schedule.ts'
import { type Slots, slotsOf } from '../schedule/slots.ts'
import { allSteps, type Steps } from '../time/steps.ts'
import { occurrenceId } from './occurrence.ts'

/** The most occurrences of one step. */
export const STRETCH = 1000
/** Payloads of the runs that one step makes, as JSON: to write more at once holds the process too long. */
const STEP_BYTES = 256 * 1024
/** Instants that an estimate names. */
const NAMED = 100

export interface BackfillProgress {
  /** Occurrences up to here were dealt with. */
  readonly doneUntilAt: number
  /** Occurrences that ran already, or must not run. */
  readonly kept: number
  readonly made: number
  readonly succeeded: number
  readonly failed: number
  /** Ended by an operator. */
  readonly cancelled: number
  /** Ids of its runs that were unfinished when last looked at. */
  readonly open: readonly string[]
  readonly state: 'running' | 'done' | 'cancelled'
}

/** What the decision needs to know of a backfill. */
export interface StartedBackfill extends BackfillProgress {
  readonly id: string
  /** The last instant of the span. */
  readonly toAt: number
  /** How many of its runs may be unfinished at once. */
  readonly concurrency: number
  /** Whether occurrences that ran already run again. */
  readonly force: boolean
  /** Replaces the payload of the schedule; null keeps it. */
  readonly payload: Json
}

/** A run as the store takes it. */
export interface BackfillRun
  extends Pick<Run, 'id' | 'workspace' | 'job' | 'queue' | 'priority' | 'payload' | 'policy'> {
  readonly trigger: 'backfill'
  readonly schedule: ScheduleRef
  readonly slot: { readonly scheduledAt: number; readonly slotStartAt: number | null }
  readonly group: null
  readonly overlap: 'allow'
  readonly due: { readonly delayMs: number }
  readonly idempotencyKey: null
}

export interface BackfillStep {
  readonly backfill: StartedBackfill
  readonly schedule: Schedule
  /** How its open runs stand; those that are not in it are taken to be unfinished. */
  readonly ended: ReadonlyMap<string, RunState>
  /** Nominal instants within `stretchOf` that have a run already. */
  readonly taken: ReadonlySet<number>
  readonly now: number
}

interface Stretch {
  readonly afterAt: number
  readonly untilAt: number
}

/** The span of the occurrences that the next step can deal with, for which it must know what has run. */
export function stretchOf({ backfill, schedule }: Pick<BackfillStep, 'backfill' | 'schedule'>): Stretch {
  const { doneUntilAt: afterAt, toAt } = backfill
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  let untilAt = afterAt
  for (let n = 0; n < STRETCH; n++) {
    const at = slots.nextAt(untilAt)
    if (at === null || at > toAt) return { afterAt, untilAt: Math.max(afterAt, toAt) }
    untilAt = at
  }
  return { afterAt, untilAt }
}

export function nextStep(step: BackfillStep): { progress: BackfillProgress; runs: BackfillRun[] } {
  const { backfill, schedule, ended, taken } = step
  const counted = countEnds(backfill, ended)
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  const runs: BackfillRun[] = []
  const most = Math.max(1, Math.floor(STEP_BYTES / JSON.stringify(backfill.payload ?? schedule.payload).length))
  let { kept, doneUntilAt } = backfill
  for (let n = 0; n < STRETCH && doneUntilAt < backfill.toAt; n++) {
    const at = slots.nextAt(doneUntilAt)
    if (at === null || at > backfill.toAt) doneUntilAt = backfill.toAt
    else if (isKept(slots, at, backfill.force ? NONE : taken)) {
      kept++
      doneUntilAt = at
    } else if (runs.length < most && counted.open.length + runs.length < backfill.concurrency) {
      runs.push(runOf(backfill, schedule, { at, slotStartAt: slots.prevAt(at) }))
      doneUntilAt = at
    } else break
  }
  const open = [...counted.open, ...runs.map(({ id }) => id)]
  const state = doneUntilAt >= backfill.toAt && open.length === 0 ? 'done' : 'running'
  return { progress: { ...counted, doneUntilAt, kept, made: backfill.made + runs.length, open, state }, runs }
}

const NONE: ReadonlySet<number> = new Set()

/** An occurrence that the definition keeps from running is kept from it here too, forced or not. */
const isKept = (slots: Slots, at: number, taken: ReadonlySet<number>): boolean =>
  taken.has(at) || slots.whyNot(at) !== null

/** The progress with the ends of its open runs counted; nothing else of it changes. */
export function countEnds(progress: BackfillProgress, ended: ReadonlyMap<string, RunState>): BackfillProgress {
  const states = progress.open.map((id) => ended.get(id))
  const count = (...of: RunState[]): number => states.filter((state) => state && of.includes(state)).length
  const { doneUntilAt, kept, made, state } = progress
  return {
    ...{ doneUntilAt, kept, made, state },
    succeeded: progress.succeeded + count('succeeded'),
    failed: progress.failed + count('failed'),
    cancelled: progress.cancelled + count('cancelled', 'skipped', 'missed'),
    open: progress.open.filter((id) => [undefined, 'pending', 'running'].includes(ended.get(id))),
  }
}

function runOf(
  backfill: StartedBackfill,
  schedule: Schedule,
  { at, slotStartAt }: { at: number; slotStartAt: number | null },
): BackfillRun {
  const { id, key, revision, workspace, job, queue, priority } = schedule
  // What fails in the past says nothing about whether the schedule should go on.
  const { pauseOnFailure: _, ...policy } = schedule.policy
  return {
    // A function of backfill and instant, so that a step that is taken twice makes its runs once.
    id: occurrenceId(backfill.id, at),
    ...{ workspace, job, queue, priority, policy },
    trigger: 'backfill',
    payload: backfill.payload ?? schedule.payload,
    schedule: { id, key, revision },
    slot: { scheduledAt: at, slotStartAt },
    group: null,
    overlap: 'allow',
    due: { delayMs: 0 },
    idempotencyKey: null,
  }
}

export interface Estimate {
  /** Occurrences in the span. */
  readonly total: number
  readonly toRun: number
  readonly kept: number
  /** The first that would run. */
  readonly first: readonly number[]
}

/** What a backfill of [fromAt, toAt] would do; `taken` are the nominal instants in it that have a run already. */
export const estimate = (schedule: Schedule, span: EstimateSpan, taken: ReadonlySet<number>): Estimate =>
  allSteps(estimating(schedule, span, taken))

export interface EstimateSpan {
  readonly fromAt: number
  readonly toAt: number
  readonly force: boolean
}

/** Occurrences between two places where other work may come between. */
const STRIDE = 100

/** The same in small steps. */
export function* estimating(
  schedule: Schedule,
  { fromAt, toAt, force }: EstimateSpan,
  taken: ReadonlySet<number>,
): Steps<Estimate> {
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  const first: number[] = []
  let [total, kept] = [0, 0]
  for (let at = slots.nextAt(fromAt - 1); at !== null && at <= toAt; at = slots.nextAt(at)) {
    if (++total % STRIDE === 0) yield
    if (isKept(slots, at, force ? NONE : taken)) kept++
    else if (first.length < NAMED) first.push(at)
  }
  return { total, toRun: total - kept, kept, first }
}
