/** Turns due schedules into runs ahead of time: looks, lets `plan` decide, writes; losing a race to another planner is no error. */
import type { Fact } from '../observe/fact.ts'
import { type DueSchedule, GRACE_MS, type Plan, plan } from '../plan/plan.ts'
import type { DuePage, PlanningStore } from '../store/contract/planning.ts'
import type { Leadership } from './leadership.ts'

/** The poll is the truth: a hint may be lost, and a schedule may appear that is due at once. */
const POLL_MS = 1000
const BATCH = 1000
/** Runs of one schedule in one pass, so that a long catch-up shares the batch with its neighbours. */
const MAX_RUNS = 500

export interface PlannerOptions {
  readonly planning: PlanningStore
  readonly leadership: Leadership
  readonly lookaheadMs: number
  readonly onFact: (fact: Fact) => void
}

export interface Planner {
  /** One pass over everything due; answers in how many milliseconds the next is. */
  pass(): Promise<number>
}

export function createPlanner({ planning, leadership, lookaheadMs, onFact }: PlannerOptions): Planner {
  const decide = async (schedule: DueSchedule, page: DuePage): Promise<Plan | null> => {
    const window = { now: page.now, untilAt: page.now + lookaheadMs, maxRuns: MAX_RUNS, graceMs: GRACE_MS }
    try {
      return plan(schedule, window)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'
      const message = error instanceof Error ? error.message : String(error)
      await planning.quarantine(schedule, { code, message })
      onFact({ kind: 'schedule.quarantined', scheduleId: schedule.id, key: schedule.key, code, message })
      return null
    }
  }

  /** Answers how many plans this node recorded; one that lost every race answers 0. */
  const write = async (plans: readonly Plan[]): Promise<number> => {
    if (plans.length === 0) return 0
    const answers = await planning.record(plans)
    const recorded = plans.filter((_, i) => answers[i] === 'recorded')
    const runs = recorded.reduce((sum, plan) => sum + plan.runs.length, 0)
    onFact({ kind: 'schedule.planned', runs, stale: plans.length - recorded.length })
    return recorded.length
  }

  return {
    async pass() {
      if (!(await leadership.leads())) return POLL_MS
      for (;;) {
        const page = await planning.due({ lookaheadMs, limit: BATCH })
        const plans: Plan[] = []
        for (const schedule of page.schedules) {
          const decided = await decide(schedule, page)
          if (decided && !isIdle(decided, schedule)) plans.push(decided)
        }
        const recorded = await write(plans)
        // A full page may have more behind it, and a plan that stopped at its maximum left its cursor inside the horizon.
        const more =
          page.schedules.length === BATCH ||
          plans.some(({ nextAt }) => nextAt !== null && nextAt <= page.now + lookaheadMs)
        if (!more || recorded === 0) return untilNext(page, plans, lookaheadMs)
        if (!(await leadership.leads())) return POLL_MS
      }
    },
  }
}

/** One that moves nothing would be written again and again; the poll looks at its schedule soon enough. */
const isIdle = ({ runs, nonRuns, resumes, nextAt, watermarkAt }: Plan, schedule: DueSchedule): boolean =>
  runs.length + nonRuns.length === 0 && !resumes && nextAt === schedule.nextAt && watermarkAt === schedule.watermarkAt

/** Until the earliest cursor comes within the lookahead, but never longer than the poll. */
function untilNext(page: DuePage, plans: readonly Plan[], lookaheadMs: number): number {
  let next = page.nextAt ?? Number.POSITIVE_INFINITY
  for (const { nextAt } of plans) if (nextAt !== null && nextAt < next) next = nextAt
  return Math.min(POLL_MS, Math.max(1, next - lookaheadMs - page.now))
}
