/** Simulates one schedule over a period, with the engine's own decisions and a simulated clock, run durations and outages. */
import { groupOfSchedule } from '../plan/group.ts'
import type { NonRun } from '../plan/non-run.ts'
import { type DueSchedule, GRACE_MS, type Plan, plan } from '../plan/plan.ts'
import { DEFAULT_RETRY, type RetryPolicy } from '../run/retry.ts'
import { type CatchUpPolicy, type FiringPolicy, seedOf, type TimingSpec } from '../schedule/schedule.ts'
import { type SearchBudget, searchBudget } from '../schedule/search-budget.ts'
import { type Slots, slotsOf } from '../schedule/slots.ts'
import { allSteps, type Steps } from '../time/steps.ts'
import { createRuns, type SimulatedRun, type SimulatedRuns } from './simulated-runs.ts'

export interface SimulatedSchedule {
  readonly workspace: string
  readonly key: string
  readonly timing: TimingSpec
  readonly firing: FiringPolicy
  readonly catchUp: CatchUpPolicy
}

export interface SimulatedWorld {
  /** Occurrences after `fromAt`, up to and including `toAt`. */
  readonly fromAt: number
  readonly toAt: number
  /** Periods when the whole fleet is down; active runs are lost. */
  readonly outages: readonly { readonly fromAt: number; readonly toAt: number }[]
  /** The durations of successive attempts; repeats after the last. */
  readonly durationsMs: readonly number[]
  readonly retry?: RetryPolicy
  readonly leaseMs?: number
  readonly lookaheadMs?: number
}

/** `waiting` and `running`: the state at the end of the period. */
export type SimulatedOutcome =
  | 'ran'
  | 'caught_up'
  | 'skipped'
  | 'missed'
  | 'cancelled'
  | 'failed'
  | 'running'
  | 'waiting'

export interface SimulatedEntry {
  readonly scheduledAt: number
  readonly dueAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly outcome: SimulatedOutcome
  /** Why it did not run, or not as planned; null if it ran as planned. */
  readonly reason: NonRun['reason'] | 'lost' | 'outage' | null
  readonly attempts: number
}

export interface Simulation {
  /** One entry per occurrence, in order. */
  readonly entries: readonly SimulatedEntry[]
  /** The end of the simulation; before `toAt` if there were too many occurrences. */
  readonly untilAt: number
  readonly truncated: boolean
}

export const MAX_OCCURRENCES = 10_000
const ID = '00000000-0000-8000-8000-000000000000'
const MAX_RUNS = 500
/** When the planner retries a schedule that it could not advance. */
const POLL_MS = 1000

export const simulate = (schedule: SimulatedSchedule, world: SimulatedWorld): Simulation =>
  allSteps(simulating(schedule, world, searchBudget(Number.POSITIVE_INFINITY)))

/** The simulation ends when the budget is used up. */
export function* simulating(
  schedule: SimulatedSchedule,
  world: SimulatedWorld,
  budget: SearchBudget,
): Steps<Simulation> {
  const slots = slotsOf(schedule.timing, seedOf(schedule))
  const { untilAt, truncated } = yield* bounded(slots, world, budget)
  const { retry = DEFAULT_RETRY, leaseMs = 9000, lookaheadMs = 10_000, durationsMs } = world
  const laned = groupOfSchedule({ id: ID, ...schedule }) !== null
  const runs = createRuns({ laned, retry, leaseMs, durationsMs })
  const planning = createPlanning(slots, schedule, { fromAt: world.fromAt, lookaheadMs })
  const outages = merged(world.outages)

  let now = world.fromAt
  while (now <= untilAt) {
    yield
    runs.add(yield* planning.pass(now), now)
    runs.settle(now)
    const down = outages.find(({ fromAt, toAt }) => fromAt <= now && now < toAt)
    if (down) {
      runs.crash(now)
      now = down.toAt
      continue
    }
    const nextDown = outages.find(({ fromAt }) => fromAt > now)?.fromAt
    const next = [runs.nextAt(now), planning.pollAt(now), nextDown].filter((at) => typeof at === 'number')
    if (next.length === 0) break
    now = Math.min(...next)
  }
  return { entries: yield* entriesOf(slots, { runs, planning, untilAt }), untilAt, truncated }
}

/** Occurrences between two yields. */
const STRIDE = 100
/** The cost of planning an occurrence, relative to enumerating it. */
const PLANNED_STEPS = 10

/** The last occurrence within the budget; enumerates, because counting several dense rules together may take for ever. */
function* bounded(
  slots: Slots,
  { fromAt, toAt }: SimulatedWorld,
  budget: SearchBudget,
): Steps<Pick<Simulation, 'untilAt' | 'truncated'>> {
  let untilAt = fromAt
  for (let count = 0; count < MAX_OCCURRENCES && (budget.left > 0 || count === 0); count++) {
    budget.left -= slots.scanSteps * PLANNED_STEPS
    if (count % STRIDE === STRIDE - 1) yield
    const at = slots.nextAt(untilAt)
    if (at === null || at > toAt) return { untilAt: toAt, truncated: false }
    untilAt = at
  }
  const more = slots.nextAt(untilAt)
  return more === null || more > toAt ? { untilAt: toAt, truncated: false } : { untilAt, truncated: true }
}

type Outage = SimulatedWorld['outages'][number]

/** Sorted, with adjacent periods merged. */
function merged(outages: readonly Outage[]): Outage[] {
  const found: Outage[] = []
  for (const outage of [...outages].sort((a, b) => a.fromAt - b.fromAt)) {
    const last = found.at(-1)
    if (!last || last.toAt < outage.fromAt) found.push(outage)
    else found[found.length - 1] = { fromAt: last.fromAt, toAt: Math.max(last.toAt, outage.toAt) }
  }
  return found
}

interface Planning {
  readonly nonRuns: readonly NonRun[]
  /** The instant up to which every occurrence was planned or recorded. */
  readonly watermarkAt: number
  /** Whether the schedule has reached its maximum number of runs. */
  readonly done: boolean
  /** Plans all occurrences within the planning horizon. */
  pass(now: number): Steps<Plan['runs']>
  /** The next instant at which the planner has work. */
  pollAt(now: number): number | null
}

function createPlanning(
  slots: Slots,
  schedule: SimulatedSchedule,
  { fromAt, lookaheadMs }: { fromAt: number; lookaheadMs: number },
): Planning {
  const nonRuns: NonRun[] = []
  const fixed = { ...schedule, id: ID, revision: 1, pausedUntil: null, pauseDetail: '' }
  let cursor: Pick<DueSchedule, 'watermarkAt' | 'runCount'> & { readonly nextAt: number | null } = {
    nextAt: slots.nextAt(fromAt),
    watermarkAt: fromAt,
    runCount: 0,
  }
  return {
    nonRuns,
    get watermarkAt() {
      return cursor.watermarkAt
    },
    get done() {
      return cursor.runCount >= (schedule.firing.maxRuns ?? Number.POSITIVE_INFINITY)
    },
    *pass(now) {
      const runs: Plan['runs'][number][] = []
      const window = { now, untilAt: now + lookaheadMs, maxRuns: MAX_RUNS, graceMs: GRACE_MS }
      while (cursor.nextAt !== null && cursor.nextAt <= window.untilAt) {
        const { nextAt, watermarkAt, runCount } = cursor
        const next = plan({ ...fixed, nextAt, watermarkAt, runCount }, window)
        runs.push(...next.runs)
        nonRuns.push(...next.nonRuns)
        cursor = { nextAt: next.nextAt, watermarkAt: next.watermarkAt, runCount: runCount + next.runs.length }
        if (next.nextAt === nextAt && next.watermarkAt === watermarkAt) break
        yield
      }
      return runs
    },
    pollAt(now) {
      if (cursor.nextAt === null) return null
      const at = cursor.nextAt - lookaheadMs
      return at > now ? at : now + POLL_MS
    },
  }
}

interface Lived {
  readonly runs: SimulatedRuns
  readonly planning: Planning
  readonly untilAt: number
}

/** The entries of runs, non-runs, and occurrences that are not planned yet. */
function* entriesOf(slots: Slots, { runs, planning, untilAt }: Lived): Steps<SimulatedEntry[]> {
  const entries: SimulatedEntry[] = []
  for (const run of runs.all) if (entries.push(entryOf(run)) % STRIDE === 0) yield
  for (const { fromAt, toAt, state: outcome, reason } of planning.nonRuns) {
    for (let at: number | null = fromAt; at !== null && at <= toAt; at = slots.nextAt(at)) {
      if (entries.push({ ...UNBEGUN, scheduledAt: at, dueAt: at, outcome, reason }) % STRIDE === 0) yield
    }
  }
  const rest = planning.done ? DONE : LEFT
  const left = slots.nextAt(planning.watermarkAt)
  for (let at = left; at !== null && at <= untilAt; at = slots.nextAt(at)) {
    if (entries.push({ ...UNBEGUN, ...rest, scheduledAt: at, dueAt: at }) % STRIDE === 0) yield
  }
  return entries.filter(({ scheduledAt }) => scheduledAt <= untilAt).sort((a, b) => a.scheduledAt - b.scheduledAt)
}

const DONE = { outcome: 'skipped', reason: 'max_runs' } as const
const LEFT = { outcome: 'waiting', reason: 'outage' } as const
const UNBEGUN = { startedAt: null, finishedAt: null, attempts: 0 } as const

function entryOf({ planned, state, dueAt, startedAt, finishedAt, attempt }: SimulatedRun): SimulatedEntry {
  const { scheduledAt, trigger } = planned
  const entry = { scheduledAt, dueAt, startedAt, finishedAt, attempts: attempt }
  const lost = attempt > 1 ? 'lost' : null
  switch (state) {
    case 'succeeded':
      return { ...entry, outcome: trigger === 'catch_up' ? 'caught_up' : 'ran', reason: lost }
    case 'failed':
      return { ...entry, outcome: 'failed', reason: 'lost' }
    case 'cancelled':
      return { ...entry, outcome: 'cancelled', reason: 'overlap' }
    case 'skipped':
      return { ...entry, finishedAt: null, outcome: 'skipped', reason: 'overlap' }
    case 'running':
      return { ...entry, outcome: 'running', reason: lost }
    case 'pending':
      return { ...entry, outcome: 'waiting', reason: attempt > 0 ? 'lost' : null }
  }
}
