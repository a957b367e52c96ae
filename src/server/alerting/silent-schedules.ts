/** Finds schedules without a recent success among those with recent trouble: a failure, a skipped or missed occurrence, a long run, or a run that waits for its next attempt. */
import type { Alert } from '../../observe/alert.ts'
import type { FactsOf, SilentSchedule } from '../../observe/alert-facts.ts'
import { readable } from '../../observe/timing-class.ts'
import { type Schedule, seedOf } from '../../schedule/schedule.ts'
import { findingRuns } from '../../schedule/search.ts'
import { SMALL_SEARCH, searchBudget } from '../../schedule/search-budget.ts'
import { slotsOf } from '../../schedule/slots.ts'
import type { RecentSuccesses } from '../../store/contract/monitoring.ts'
import { allSteps } from '../../time/steps.ts'
import { schedulesOf } from './found-schedules.ts'
import { roundRobin } from './round-robin.ts'
import type { Snapshot } from './snapshot.ts'

/** How far back to look for trouble; the next occurrence shows older trouble again. */
const LATELY_MS = 600_000
/** How far back to look for the end of the last attempt of a run that waits for its next one. */
const RETRYING_MS = 86_400_000
/** The most schedules that one scan reads, round-robin over workspaces. */
const MAX_SCHEDULES = 300

export interface SilentQuestion {
  readonly rule: {
    readonly workspace: string
    readonly settings: { readonly periods: number; readonly atLeastMs: number }
  }
  readonly alerts: readonly Alert[]
}

export async function silentSchedules(
  snapshot: Snapshot,
  { rule, alerts }: SilentQuestion,
): Promise<FactsOf<'no_success'>> {
  const { workspace, settings } = rule
  const { monitoring, schedules: store } = snapshot.store
  const [passed, unsuccessful, long, retrying, known] = await Promise.all([
    snapshot.passedOver(LATELY_MS),
    snapshot.unsuccessful(LATELY_MS),
    snapshot.running(settings.atLeastMs),
    snapshot.retrying(RETRYING_MS),
    schedulesOf(snapshot, alerts),
  ])
  const running = new Map(long.flatMap((run) => (run.schedule ? [[run.schedule.id, run] as const] : [])))
  const isKnown = new Set(known.map(({ id }) => id))
  const troubled = new Map<string, string>(passed.map((each) => [each.id, each.workspace]))
  for (const each of [...unsuccessful, ...long]) if (each.schedule) troubled.set(each.schedule.id, each.workspace)
  for (const each of retrying) troubled.set(each.id, each.workspace)
  const fresh = [...troubled].filter(([id, of]) => !isKnown.has(id) && (workspace === '' || of === workspace))
  const others = roundRobin(fresh, ([, of]) => of)
    .slice(0, MAX_SCHEDULES)
    .map(([id]) => id)
  const found = [...known, ...(await Promise.all(others.map((id) => store.byId(id))))]
  const paused = new Set((await snapshot.queues()).filter((queue) => queue.paused).map(({ name }) => name))
  const active = found.filter((each) => each !== null).filter((each) => isActive(each, { workspace, paused }))
  const successes = await monitoring.successes(active.map(({ id }) => id))
  const schedules: SilentSchedule[] = []
  for (const each of active) {
    const since = await sinceOf(snapshot, each, successes.get(each.id))
    const run = running.get(each.id)
    schedules.push({
      ...{ id: each.id, workspace: each.workspace, key: each.key, ...since },
      nthAt: nthAfter(each, since.sinceAt, settings.periods),
      running: run ? { id: run.id, startedAt: run.startedAt } : null,
    })
  }
  return { schedules }
}

function isActive(
  { workspace, pause, quarantine, queue, firing, runCount }: Schedule,
  rule: { readonly workspace: string; readonly paused: ReadonlySet<string> },
): boolean {
  const isOver = firing.maxRuns !== null && runCount >= firing.maxRuns
  const isHeld = pause !== null || quarantine !== null || rule.paused.has(queue)
  return !isOver && !isHeld && (rule.workspace === '' || workspace === rule.workspace)
}

/** The end of a pause, or any other change, restarts the count. */
async function sinceOf(
  snapshot: Snapshot,
  { createdAt, updatedAt, queue }: Schedule,
  success: RecentSuccesses | undefined,
) {
  const pausedAt = (await snapshot.watch()).paused[queue] ?? 0
  const sinceAt = Math.max(createdAt, updatedAt, pausedAt, success?.at ?? 0)
  return {
    sinceAt,
    silentMs: await snapshot.lastedMs(sinceAt, queue),
    succeeded: success !== undefined,
    longestMs: Math.max(0, ...(success?.durationsMs ?? [])),
  }
}

/** Null also for an unreadable timing, which has its own alert, and for one that exceeds the search budget. */
const nthAfter = (schedule: Schedule, sinceAt: number, periods: number): number | null =>
  readable(() => {
    const slots = slotsOf(schedule.timing, seedOf(schedule))
    const wanted = { afterAt: sinceAt, count: periods }
    const found = allSteps(findingRuns(slots, wanted, searchBudget(SMALL_SEARCH)))
    return found.length < periods ? null : (found.at(-1) ?? sinceAt)
  })
