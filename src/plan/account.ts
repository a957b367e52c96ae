/** Decides, without I/O, what to record for a stored definition before it changes, so that none of its occurrences is lost; the store writes it or answers stale. */
import { type Schedule, seedOf } from '../schedule/schedule.ts'
import { slotsOf } from '../schedule/slots.ts'
import { pauseDetail, pausedRange } from './non-run.ts'
import { type DueSchedule, GRACE_MS, type Plan, plan } from './plan.ts'

/** More of a long catch-up than this is a next step: a plan is one write. */
const MAX_RUNS = 500

/**
 * The next step of accounting for everything up to `now`, or null when nothing is left to record. Callers that change a
 * definition repeat it until then. An unreadable timing has no known occurrences.
 */
export function accountUpTo(schedule: Schedule, now: number): Plan | null {
  try {
    const made = stepOf(schedule, now)
    // A quarantine keeps its cursor parked until a change lifts it.
    const step = schedule.quarantine === null ? made : { ...made, nextAt: null }
    return step.runs.length > 0 || step.nonRuns.length > 0 || step.resumes ? step : null
  } catch {
    return null
  }
}

function stepOf(schedule: Schedule, now: number): Plan {
  const { pause, nextAt } = schedule
  if (pause !== null && (pause.until === null || now < pause.until))
    return stillPaused(schedule, pauseDetail(pause), now)
  const due: DueSchedule = {
    ...schedule,
    nextAt: nextAt ?? now,
    pausedUntil: pause?.until ?? null,
    pauseDetail: pause ? pauseDetail(pause) : '',
  }
  return { ...plan(due, { now, untilAt: now, maxRuns: MAX_RUNS, graceMs: GRACE_MS }), expectedNextAt: nextAt }
}

/** Occurrences during a pause that continues; the cursor does not move. */
function stillPaused(schedule: Schedule, detail: string, now: number): Plan {
  const { id: scheduleId, revision, nextAt, watermarkAt: afterAt } = schedule
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  const untilAt = slots.countableUntil(afterAt, now)
  const nonRuns = pausedRange(slots, { afterAt, untilAt, detail })
  return {
    ...{ scheduleId, revision, expectedNextAt: nextAt, nextAt, group: null, runs: [], nonRuns, resumes: false },
    expectedWatermarkAt: afterAt,
    watermarkAt: Math.max(afterAt, untilAt),
  }
}
