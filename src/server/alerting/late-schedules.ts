/** Finds schedules that have not fired: with a cursor in the past, or with due runs that did not start. */
import type { Alert } from '../../observe/alert.ts'
import type { FactsOf, LateSchedule, NamedSchedule } from '../../observe/alert-facts.ts'
import type { Run } from '../../run/run.ts'
import { findSchedules, nameOf, schedulesOf, within } from './found-schedules.ts'
import { roundRobin } from './round-robin.ts'
import type { Snapshot } from './snapshot.ts'

/** The most queues with waiting runs that one scan reads, round-robin over the workspaces that name them. */
const MAX_QUEUES = 200
/** The number of newest runs to check per schedule. */
const NEWEST = 20

export interface LateQuestion {
  readonly rule: { readonly workspace: string; readonly settings: { readonly graceMs: number } }
  readonly alerts: readonly Alert[]
}

type Waiting = Omit<LateSchedule, 'lateMs'> & { readonly queue?: string }

export async function lateSchedules(
  snapshot: Snapshot,
  { rule, alerts }: LateQuestion,
): Promise<FactsOf<'schedule_not_fired'>> {
  const { workspace, settings } = rule
  const dueBefore = snapshot.now - settings.graceMs
  const overdue = await findSchedules(snapshot, { ...within(rule), overdueMs: settings.graceMs })
  const waiting: Waiting[] = overdue.flatMap((each) => (each.nextAt === null ? [] : notPlanned(each, each.nextAt)))
  // A paused queue delays its runs on purpose.
  const leased = (await snapshot.queues()).filter(
    ({ paused, oldestDueAt }) => !paused && oldestDueAt !== null && oldestDueAt < dueBefore,
  )
  for (const { name: queue } of roundRobin(leased, ({ namedBy }) => namedBy).slice(0, MAX_QUEUES)) {
    const found = await snapshot.waiting(queue, settings.graceMs)
    const own = found.filter((each) => workspace === '' || each.workspace === workspace)
    waiting.push(...own.map((each) => notStarted(each, each.dueAt, queue)))
  }
  // Schedules that are already known to be late may be beyond the limit of one scan.
  waiting.push(...(await stillWaiting(snapshot, alerts)))
  const late = await Promise.all(
    waiting.map(async ({ queue, ...each }) => ({ ...each, lateMs: await snapshot.lastedMs(each.sinceAt, queue) })),
  )
  return { late: longestOf(late) }
}

const notPlanned = (each: NamedSchedule, sinceAt: number): Waiting => ({
  ...nameOf(each),
  sinceAt,
  because: 'not planned',
})
const notStarted = (each: NamedSchedule, sinceAt: number, queue: string): Waiting => ({
  ...nameOf(each),
  ...{ sinceAt, queue, because: 'not started' },
})

/** The longest-lasting problem per schedule. */
function longestOf(late: readonly LateSchedule[]): LateSchedule[] {
  const longest = new Map<string, LateSchedule>()
  for (const each of late) if (each.lateMs >= (longest.get(each.id)?.lateMs ?? 0)) longest.set(each.id, each)
  return [...longest.values()]
}

/** Never started, and no run of its concurrency group blocks it. */
const isUnbegun = ({ state, attempt, readiness }: Pick<Run, 'state' | 'attempt' | 'readiness'>): boolean =>
  state === 'pending' && attempt === 0 && readiness === 'ready'

/** What the schedules with an alert are waiting for, if anything; the rule decides whether that is too long. */
async function stillWaiting(snapshot: Snapshot, alerts: readonly Alert[]): Promise<Waiting[]> {
  const found = await schedulesOf(snapshot, alerts)
  if (found.length === 0) return []
  const paused = new Set((await snapshot.queues()).filter((queue) => queue.paused).map(({ name }) => name))
  const latest = await snapshot.store.history.latest(
    found.map(({ id }) => id),
    NEWEST,
  )
  return found.flatMap((each) => {
    const runs = (latest.get(each.id) ?? []).filter((run) => isUnbegun(run) && !paused.has(run.queue))
    const started = runs.map(({ dueAt, queue }) => notStarted(each, dueAt, queue))
    return each.nextAt === null ? started : [notPlanned(each, each.nextAt), ...started]
  })
}
