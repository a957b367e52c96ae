/** Turns due schedules into runs ahead of time: looks, lets `plan` decide, writes; losing a race to another planner is no error. */
import type { EngineEvent } from '../observe/engine-event.ts'
import { type DueSchedule, GRACE_MS, type Plan, plan } from '../plan/plan.ts'
import type { Shard } from '../plan/shard.ts'
import type { FailoverStore } from '../store/contract/failovers.ts'
import { type DuePage, LONGEST_PAGE, type PlanningStore } from '../store/contract/planning.ts'
import { yieldToEventLoop } from '../time/in-steps.ts'
import type { Leadership } from './leadership.ts'
import { POLL_MS } from './poll.ts'

/** Runs of one schedule in one pass, so that a long catch-up shares the batch with its neighbours. */
const MAX_RUNS = 500

/** Schedules that are planned before other work has its turn; one that leaves something out weighs as much as many. */
const MAX_WEIGHT = 2000
const GUARDED_WEIGHT = 100
/** Of each run and record in a plan: a catch-up of hundreds of runs takes as long as a thousand schedules. */
const RECORD_WEIGHT = 4

export interface PlannerOptions {
  readonly planning: PlanningStore
  readonly failovers: Pick<FailoverStore, 'confirm'>
  readonly leadership: PlannerLeadership
  readonly lookaheadMs: number
  readonly onEvent: (fact: EngineEvent) => void
}

export interface PlannerLeadership extends Leadership {
  /** The share of the schedules that this planner plans while it leads; all of them when absent or null. */
  readonly shard?: Shard | null
}

export interface Planner {
  /** One pass over everything due; answers in how many milliseconds the next is. */
  pass(): Promise<number>
}

interface Write {
  /** Of the schedules whose plans these are. */
  readonly ids: readonly string[]
  /** The earliest instant to which a cursor goes; infinite where none goes anywhere. */
  readonly nextAt: number
  /** How many of them this node recorded; one that lost every race answers 0. */
  readonly recorded: Promise<number>
}

export function createPlanner({ planning, failovers, leadership, lookaheadMs, onEvent }: PlannerOptions): Planner {
  const setAside = async (schedule: DueSchedule, error: unknown): Promise<void> => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'
    const message = error instanceof Error ? error.message : String(error)
    await planning.quarantine(schedule, { code, message })
    onEvent({ kind: 'schedule.quarantined', scheduleId: schedule.id, key: schedule.key, code, message })
  }

  const decide = async ({ now, schedules }: DuePage): Promise<Plan[]> => {
    const window = { now, untilAt: now + lookaheadMs, maxRuns: MAX_RUNS, graceMs: GRACE_MS }
    const plans: Plan[] = []
    let weight = 0
    for (const schedule of schedules) {
      weight += weightOf(schedule)
      if (weight > MAX_WEIGHT) {
        weight = 0
        await yieldToEventLoop()
      }
      try {
        const decided = plan(schedule, window)
        weight += RECORD_WEIGHT * (decided.runs.length + decided.nonRuns.length)
        if (!isIdle(decided, schedule)) plans.push(decided)
      } catch (error) {
        await setAside(schedule, error)
      }
    }
    return plans
  }

  const write = async (plans: readonly Plan[]): Promise<number> => {
    if (plans.length === 0) return 0
    const answers = await planning.record(plans)
    let [recorded, runs, missed] = [0, 0, 0]
    for (let i = 0; i < plans.length; i++) {
      if (answers[i] !== 'recorded') continue
      const plan = plans[i]!
      recorded += 1
      runs += plan.runs.length
      missed += missedIn(plan)
    }
    onEvent({ kind: 'schedule.planned', runs, stale: plans.length - recorded })
    if (missed > 0) onEvent({ kind: 'schedule.missed', count: missed })
    return recorded
  }

  const begin = (plans: readonly Plan[]): Write => {
    const recorded = write(plans)
    // Told to whoever waits for it, who may be reading the next page just now.
    recorded.catch(() => {})
    return { ids: plans.map(({ scheduleId }) => scheduleId), nextAt: nextOf(plans), recorded }
  }

  return {
    async pass() {
      const underWay: Write[] = []
      try {
        for (;;) {
          if (!(await leadership.leads())) return POLL_MS
          // Nothing is planned on a server that failed over before that is on record.
          await failovers.confirm()
          const page = await planning.due({
            lookaheadMs,
            limit: LONGEST_PAGE,
            except: underWay.flatMap(({ ids }) => ids),
            shard: leadership.shard ?? null,
          })
          underWay.push(begin(await decide(page)))
          const nextAt = Math.min(...underWay.map((each) => each.nextAt))
          // A full page may have more behind it, and a plan that stopped at its maximum left its cursor inside the horizon.
          const full = page.schedules.length === LONGEST_PAGE
          const ending = full ? underWay.slice(0, underWay.length + 1 - planning.recordsAtOnce) : [...underWay]
          const recorded = await Promise.all(ending.map((each) => each.recorded))
          underWay.splice(0, ending.length)
          const more = full || nextAt <= page.now + lookaheadMs
          if (!more || (ending.length > 0 && Math.max(...recorded) === 0)) return untilNext(page, nextAt, lookaheadMs)
        }
      } finally {
        await Promise.allSettled(underWay.map(({ recorded }) => recorded))
      }
    },
  }
}

const weightOf = ({ timing }: DueSchedule): number =>
  timing.exclude === undefined && timing.kind !== 'any' ? 1 : GUARDED_WEIGHT + 10 * (timing.exclude?.length ?? 0)

const missedIn = ({ nonRuns }: Plan): number =>
  nonRuns.reduce((sum, { state, count }) => (state === 'missed' ? sum + count : sum), 0)

const nextOf = (plans: readonly Plan[]): number =>
  plans.reduce((next, { nextAt }) => (nextAt !== null && nextAt < next ? nextAt : next), Number.POSITIVE_INFINITY)

/** One that moves nothing would be written again and again; the poll looks at its schedule soon enough. */
const isIdle = ({ runs, nonRuns, resumes, nextAt, watermarkAt }: Plan, schedule: DueSchedule): boolean =>
  runs.length + nonRuns.length === 0 && !resumes && nextAt === schedule.nextAt && watermarkAt === schedule.watermarkAt

/** Until the earliest cursor comes within the lookahead, but never longer than the poll. */
const untilNext = (page: DuePage, nextAt: number, lookaheadMs: number): number =>
  Math.min(POLL_MS, Math.max(1, Math.min(page.nextAt ?? Number.POSITIVE_INFINITY, nextAt) - lookaheadMs - page.now))
