/** Decides, purely, which occurrences of a due schedule become runs now and where its cursor goes; the store writes it or says stale. */
import { EverytickError } from '../errors.ts'
import { type CatchUpPolicy, seedOf, type TimingSpec, timingOf } from '../schedule/schedule.ts'
import type { Timing } from '../schedule/timing.ts'
import { catchUp } from './catch-up.ts'
import { type NonRun, pausedRange } from './non-run.ts'
import { occurrenceId } from './occurrence.ts'

/** What planning needs to know of a schedule whose cursor has come near. */
export interface DueSchedule {
  readonly id: string
  readonly workspace: string
  readonly key: string
  readonly revision: number
  readonly timing: TimingSpec
  readonly catchUp: CatchUpPolicy
  readonly nextAt: number
  readonly watermarkAt: number
  /** Set when the schedule is paused until then; its cursor stands there. */
  readonly pausedUntil: number | null
}

export interface PlannedRun {
  readonly id: string
  readonly scheduledAt: number
  readonly slotStartAt: number | null
  readonly dueAt: number
  readonly trigger: 'schedule' | 'catch_up'
}

export interface Plan {
  readonly scheduleId: string
  readonly revision: number
  /** The plan holds only while the cursor still stands here. */
  readonly expectedNextAt: number
  readonly nextAt: number | null
  readonly watermarkAt: number
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
  /** An occurrence older than this was missed while nobody planned, and falls under the catch-up policy. */
  readonly graceMs: number
}

export function plan(schedule: DueSchedule, window: PlanWindow): Plan {
  const timing = timingOf(schedule.timing, seedOf(schedule))
  if (schedule.pausedUntil !== null) return endOfPause(timing, schedule, schedule.pausedUntil)
  const first = firstOpen(timing, schedule)
  const late = first !== null && first < window.now - window.graceMs
  const caught = late ? catchUp(timing, schedule.catchUp, { firstAt: first, now: window.now - window.graceMs }) : null
  const runs: PlannedRun[] = []
  let at = caught ? advance(timing, caught.skipUntil) : first
  while (at !== null && at <= window.untilAt && runs.length < window.maxRuns) {
    runs.push({
      id: occurrenceId(schedule.id, at),
      scheduledAt: at,
      slotStartAt: timing.prevAt(at),
      dueAt: at,
      trigger: at < window.now - window.graceMs ? 'catch_up' : 'schedule',
    })
    at = advance(timing, at)
  }
  return {
    scheduleId: schedule.id,
    revision: schedule.revision,
    expectedNextAt: schedule.nextAt,
    nextAt: at,
    watermarkAt: Math.max(schedule.watermarkAt, runs.at(-1)?.scheduledAt ?? 0, caught?.nonRuns.at(-1)?.toAt ?? 0),
    runs,
    nonRuns: caught?.nonRuns ?? [],
    resumes: false,
  }
}

/** What the pause kept from running is one record; what comes after its end is planned from then on, like any other. */
function endOfPause(timing: Timing, schedule: DueSchedule, untilAt: number): Plan {
  const watermarkAt = Math.max(schedule.watermarkAt, untilAt)
  return {
    scheduleId: schedule.id,
    revision: schedule.revision,
    expectedNextAt: schedule.nextAt,
    nextAt: advance(timing, watermarkAt),
    watermarkAt,
    runs: [],
    nonRuns: pausedRange(timing, schedule.watermarkAt, untilAt),
    resumes: true,
  }
}

/** The cursor, unless an edit moved the watermark past it: occurrences at or below the watermark are accounted for. */
function firstOpen(timing: Timing, schedule: DueSchedule): number | null {
  return schedule.nextAt > schedule.watermarkAt ? schedule.nextAt : advance(timing, schedule.watermarkAt)
}

/** A timing that does not move forward would fire for ever, so it is refused a second time here. */
function advance(timing: Timing, after: number): number | null {
  const next = timing.nextAt(after)
  if (next === null || next > after) return next
  throw new EverytickError('TIMING_STUCK', `"${timing.expression}" answered ${next}, which is not after ${after}`)
}
