/** Decides, without I/O, which occurrences of a due schedule become runs now and how far its cursor moves; the store writes it or answers stale. */
import { EverytickError } from '../errors.ts'
import type { Overlap } from '../run/run.ts'
import { jitterMs } from '../schedule/jitter.ts'
import { type CatchUpPolicy, type FiringPolicy, seedOf, type TimingSpec } from '../schedule/schedule.ts'
import { type SearchBudget, searchBudget } from '../schedule/search-budget.ts'
import { type Slots, slotsOf } from '../schedule/slots.ts'
import { catchUp } from './catch-up.ts'
import { groupOfSchedule } from './group.ts'
import { type NonRun, pausedRange } from './non-run.ts'
import { occurrenceId } from './occurrence.ts'

/** What the planner needs to know of a schedule that is nearly due. */
export interface DueSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly revision: number
  readonly timing: TimingSpec
  readonly catchUp: CatchUpPolicy
  readonly firing: FiringPolicy
  readonly nextAt: number
  readonly watermarkAt: number
  /** How many runs its occurrences became so far. */
  readonly runCount: number
  /** Set when the schedule is paused until then; its cursor stands there. */
  readonly pausedUntil: number | null
  /** The actor and reason of the pause, for the record; empty when it is not paused. */
  readonly pauseDetail: string
}

export interface PlannedRun {
  readonly id: string
  readonly scheduledAt: number
  readonly slotStartAt: number | null
  readonly dueAt: number
  readonly trigger: 'schedule' | 'catch_up'
  readonly overlap: Overlap
}

export interface Plan {
  readonly scheduleId: string
  readonly revision: number
  /** The plan holds only while the cursor still stands here. */
  readonly expectedNextAt: number | null
  /** And, where it is given, the watermark here: a cursor that stays put does not show that somebody recorded the same. */
  readonly expectedWatermarkAt?: number
  readonly nextAt: number | null
  readonly watermarkAt: number
  /** In which one run at a time is open; null when its runs may overlap. */
  readonly group: string | null
  readonly runs: readonly PlannedRun[]
  readonly nonRuns: readonly NonRun[]
  /** Whether the schedule's pause ends with this plan. */
  readonly resumes: boolean
}

export interface PlanWindow {
  readonly now: number
  /** Occurrences up to here become runs ahead of time. */
  readonly untilAt: number
  /** Runs per schedule and pass; the cursor stops where they end, and the next pass goes on. */
  readonly maxRuns: number
  /** An older occurrence was missed while no planner was running, and falls under the catch-up policy. */
  readonly graceMs: number
}

/** What is planned this much late was not missed, only slow. */
export const GRACE_MS = 2000

/** Ranges of occurrences that become no run, in one pass. */
const MAX_NON_RUNS = 500

/** Steps of looking in one pass over a schedule that leaves something out, so that one cannot hold up the others. */
const MAX_STEPS = 10_000
/** To record what is left out is this much more than to look at it. */
const RECORD_STEPS = 5
/** Of a schedule that leaves nothing out, runs are all there is to bound. */
const UNBOUNDED: SearchBudget = { left: Number.POSITIVE_INFINITY }

export function plan(schedule: DueSchedule, window: PlanWindow): Plan {
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  if (schedule.pausedUntil !== null)
    return endOfPause(slots, schedule, { ...window, pausedUntil: schedule.pausedUntil })
  // What has no runs left missed none: its occurrences are not for the catch-up policy.
  const done = runsLeft(schedule) <= 0
  const openAt = advance(slots, schedule.watermarkAt)
  const room = slots.scanSteps > 1 ? searchBudget(MAX_STEPS) : UNBOUNDED
  const lead = done ? { nonRuns: [], at: openAt } : leading(slots, openAt, { now: window.now, room })
  const first = lead.at
  const lateAt = window.now - window.graceMs - maxJitterMs(schedule, slots, first)
  const caught =
    first !== null && first < lateAt && !done && slots.whyNot(first) === null
      ? catchUp(slots, schedule.catchUp, { firstAt: first, now: lateAt })
      : null
  const fromAt = caught ? advance(slots, caught.skipUntil) : first
  const walked = caught?.goesOn ? { ...IDLE, nextAt: fromAt } : walk(slots, schedule, { window, lateAt, fromAt, room })
  const before = caught ? [...lead.nonRuns, ...caught.nonRuns] : lead.nonRuns
  const nonRuns = before.length === 0 ? walked.nonRuns : [...before, ...walked.nonRuns]
  return {
    scheduleId: schedule.id,
    revision: schedule.revision,
    expectedNextAt: schedule.nextAt,
    expectedWatermarkAt: schedule.watermarkAt,
    nextAt: walked.nextAt,
    watermarkAt: Math.max(schedule.watermarkAt, walked.runs.at(-1)?.scheduledAt ?? 0, nonRuns.at(-1)?.toAt ?? 0),
    group: groupOfSchedule(schedule),
    runs: walked.runs,
    nonRuns,
    resumes: false,
  }
}

/** What comes first and may not run was not missed, however long ago: it was left until the last of its stretch had passed. */
function leading(
  slots: Slots,
  firstAt: number | null,
  { now, room }: { readonly now: number; readonly room: SearchBudget },
): { nonRuns: NonRun[]; at: number | null } {
  const nonRuns: NonRun[] = []
  let at = firstAt
  while (at !== null && at <= now && nonRuns.length < MAX_NON_RUNS && room.left > 0) {
    room.left -= slots.scanSteps
    const why = slots.whyNot(at)
    // Where the stretch goes on, nothing after it is late, and the walk says when to look again.
    if (why === null || why.untilAt > now) break
    at = advance(slots, skip(slots, why, { at, now, nonRuns, room }))
  }
  return { nonRuns, at }
}

interface Walk {
  readonly window: PlanWindow
  readonly lateAt: number
  readonly fromAt: number | null
  readonly room: SearchBudget
}

type Walked = Pick<Plan, 'runs' | 'nonRuns' | 'nextAt'>

/**
 * Occurrence by occurrence. Those that may not run are recorded when they have passed, never before: an edit can take a run
 * back, but not a record. So the walk ends at the first that lies ahead, and goes on when the last of its kind has passed.
 */
function walk(slots: Slots, schedule: DueSchedule, { window, lateAt, fromAt, room }: Walk): Walked {
  const { now, untilAt, maxRuns } = window
  const runs: PlannedRun[] = []
  const nonRuns: NonRun[] = []
  const left = runsLeft(schedule)
  let at = fromAt
  while (at !== null && at <= untilAt && runs.length < maxRuns && nonRuns.length < MAX_NON_RUNS && room.left > 0) {
    room.left -= slots.scanSteps
    const why = runs.length >= left ? DONE : slots.whyNot(at)
    if (why === null) {
      runs.push(plannedRun(slots, schedule, { at, late: at < lateAt }))
      at = advance(slots, at)
      continue
    }
    if (at <= now) at = advance(slots, skip(slots, why, { at, now, nonRuns, room }))
    if (at !== null && at > now && at < why.untilAt) {
      const lastAt = Number.isFinite(why.untilAt) ? slots.prevAt(why.untilAt) : null
      return { runs, nonRuns, nextAt: lastAt === null ? null : lastAt + (untilAt - now) }
    }
  }
  return { runs, nonRuns, nextAt: at }
}

const IDLE = { runs: [], nonRuns: [] } as const

const runsLeft = ({ firing, runCount }: DueSchedule): number => (firing.maxRuns ?? Number.POSITIVE_INFINITY) - runCount

const DONE = { reason: 'max_runs', detail: '', untilAt: Number.POSITIVE_INFINITY } as const

/** Records those of a stretch from `at` on that have passed; answers the last of them. */
function skip(slots: Slots, why: Skipped, { at, now, nonRuns, room }: Skip): number {
  room.left -= slots.scanSteps * RECORD_STEPS
  const toAt = slots.prevAt(slots.countableUntil(at - 1, Math.min(why.untilAt - 1, now)) + 1) ?? at
  const { reason, detail } = why
  const count = slots.countAt(at - 1, toAt)
  push(nonRuns, { state: 'skipped', reason, detail, fromAt: at, toAt, count, afterAt: slots.prevAt(at) })
  return toAt
}

type Skipped = Pick<NonRun, 'reason' | 'detail'> & { readonly untilAt: number }

interface Skip {
  readonly at: number
  readonly now: number
  readonly nonRuns: NonRun[]
  readonly room: SearchBudget
}

/** Neighbours that say the same become one. */
function push(nonRuns: NonRun[], next: NonRun): void {
  const last = nonRuns.at(-1)
  if (last && last.toAt === next.afterAt && last.reason === next.reason && last.detail === next.detail) {
    nonRuns[nonRuns.length - 1] = { ...last, toAt: next.toAt, count: last.count + next.count }
  } else nonRuns.push(next)
}

function plannedRun(slots: Slots, schedule: DueSchedule, { at, late }: { at: number; late: boolean }): PlannedRun {
  const { jitter } = schedule.firing
  const offset = jitter && !late ? jitterMs(jitter, seedOf(schedule), { at, nextAt: slots.nextAt(at) }) : 0
  return {
    id: occurrenceId(schedule.id, at),
    scheduledAt: at,
    slotStartAt: slots.prevAt(at),
    dueAt: at + offset,
    trigger: late ? 'catch_up' : 'schedule',
    overlap: overlapOf(schedule, late),
  }
}

/**
 * Missed occurrences that are caught up run one after another: under `skip`, all but the first would be lost a second time.
 * The only one that `latest` leaves would be lost under `queue_one` and `cancel_previous` too, behind an older or a newer run.
 */
function overlapOf({ firing: { overlap, concurrencyKey }, catchUp }: DueSchedule, late: boolean): Overlap {
  if (overlap === 'allow') return concurrencyKey === null ? 'allow' : 'queue'
  return late && (overlap === 'skip' || catchUp.catchUp === 'latest') ? 'queue' : overlap
}

/** What waits for its jitter is not late; no occurrence waits as long as until the next. */
function maxJitterMs({ firing: { jitter } }: DueSchedule, slots: Slots, firstAt: number | null): number {
  if (!jitter || firstAt === null) return 0
  const nextAt = slots.nextAt(firstAt)
  if ('ms' in jitter.max) return Math.min(jitter.max.ms, nextAt === null ? jitter.max.ms : nextAt - firstAt)
  return nextAt === null ? 0 : Math.ceil(jitter.max.share * (nextAt - firstAt))
}

/**
 * What the pause kept from running is one record; what comes after its end is planned from then on, like any other. One
 * that has not ended yet is looked at again when it has.
 */
function endOfPause(slots: Slots, schedule: DueSchedule, { now, untilAt, pausedUntil }: EndOfPause): Plan {
  const { id: scheduleId, revision, nextAt: expectedNextAt } = schedule
  const same = {
    scheduleId,
    revision,
    expectedNextAt,
    expectedWatermarkAt: schedule.watermarkAt,
    group: null,
    runs: [],
  }
  if (now < pausedUntil) {
    const nextAt = pausedUntil + (untilAt - now)
    return { ...same, nextAt, watermarkAt: schedule.watermarkAt, nonRuns: [], resumes: false }
  }
  const { watermarkAt: afterAt, pauseDetail: detail } = schedule
  const reachAt = slots.countableUntil(afterAt, pausedUntil)
  const nonRuns = pausedRange(slots, { afterAt, untilAt: reachAt, detail })
  if (reachAt < pausedUntil) return { ...same, nextAt: expectedNextAt, watermarkAt: reachAt, nonRuns, resumes: false }
  const watermarkAt = Math.max(afterAt, pausedUntil)
  return { ...same, nextAt: advance(slots, watermarkAt), watermarkAt, nonRuns, resumes: true }
}

interface EndOfPause extends PlanWindow {
  readonly pausedUntil: number
}

/** A timing that does not move forward would fire for ever, so it is refused a second time here. */
function advance(slots: Slots, after: number): number | null {
  const next = slots.nextAt(after)
  if (next === null || next > after) return next
  throw new EverytickError('TIMING_STUCK', `"${slots.expression}" answered ${next}, which is not after ${after}`)
}
