/** Computes where new and changed schedules begin, once for each timing that many of them share; `schedule-writing.ts` writes them. */
import { dateOf } from '../schedule/instant.ts'
import { type ScheduleDefinition, seedOf, type TimingRule, type TimingSpec } from '../schedule/schedule.ts'
import { nextRunOr } from '../schedule/search.ts'
import { slotsOf } from '../schedule/slots.ts'

type Timed = Pick<ScheduleDefinition, 'workspace' | 'key' | 'timing'>

export interface FirstFire {
  /** The schedule has no occurrences at or before this. */
  readonly watermarkAt: number
  /** The first occurrence after the watermark. */
  readonly nextAt: number | null
  /** The first occurrence that the definition does not skip. */
  nextRun(): Date | null
}

/** Returns the first occurrences after `now`. */
export function firstFires(now: number): (of: Timed) => FirstFire {
  const known = new Map<TimingSpec, FirstFire>()
  return (of) => {
    const found = known.get(of.timing)
    if (found) return found
    const first = firstFire(of, now)
    // `H` depends on the name of the schedule, so that each schedule has its own occurrences.
    if (!isSpread(of.timing)) known.set(of.timing, first)
    return first
  }
}

function firstFire(of: Timed, now: number): FirstFire {
  const { timing } = of
  // A single instant is an occurrence even when it has passed: the catch-up policy decides whether it runs.
  const watermarkAt = timing.kind === 'once' ? Math.min(now, timing.at - 1) : now
  const slots = slotsOf(timing, seedOf(of))
  const nextAt = slots.nextAt(watermarkAt)
  let runAt: number | null | undefined
  return {
    watermarkAt,
    nextAt,
    nextRun() {
      if (runAt === undefined) runAt = nextRunOr(slots, now, nextAt)
      return dateOf(runAt)
    },
  }
}

/** Whether the occurrences may depend on the name of the schedule. */
function isSpread(rule: TimingRule): boolean {
  if (rule.kind === 'any') return rule.of.some(isSpread)
  return rule.kind === 'cron' && /h/i.test(rule.cron)
}
