/** Says where schedules that are written at one instant begin, and looks once at a timing that many of them share; what is written is `schedule-writing.ts`. */
import { dateOf } from '../schedule/instant.ts'
import { type ScheduleDefinition, seedOf, type TimingRule, type TimingSpec } from '../schedule/schedule.ts'
import { nextRunOr } from '../schedule/search.ts'
import { slotsOf } from '../schedule/slots.ts'

type Timed = Pick<ScheduleDefinition, 'workspace' | 'key' | 'timing'>

export interface FirstFire {
  /** Occurrences at or before this are none of the timing's. */
  readonly watermarkAt: number
  /** The first occurrence after that. */
  readonly nextAt: number | null
  /** The first that nothing in the definition keeps from running. */
  nextRun(): Date | null
}

/** As seen from `now`. */
export function firstFires(now: number): (of: Timed) => FirstFire {
  const known = new Map<TimingSpec, FirstFire>()
  return (of) => {
    const found = known.get(of.timing)
    if (found) return found
    const first = firstFire(of, now)
    // Where `H` is spread over names, each schedule has occurrences of its own.
    if (!isSpread(of.timing)) known.set(of.timing, first)
    return first
  }
}

function firstFire(of: Timed, now: number): FirstFire {
  const { timing } = of
  // A single instant is an occurrence even when it has passed: the catch-up policy says what becomes of it.
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

/** Whether the name of the schedule may have a say in its occurrences. */
function isSpread(rule: TimingRule): boolean {
  if (rule.kind === 'any') return rule.of.some(isSpread)
  return rule.kind === 'cron' && /h/i.test(rule.cron)
}
