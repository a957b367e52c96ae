/** Finds the schedules that have not fired: those whose cursor stands in the past, and those whose runs are due and were not begun. */
import type { Alert } from '../../observe/alert.ts'
import type { FactsOf, LateSchedule, NamedSchedule } from '../../observe/alert-facts.ts'
import type { Run } from '../../run/run.ts'
import type { RunFilter } from '../../store/contract/history.ts'
import { findSchedules, nameOf, schedulesOf, within } from './found-schedules.ts'
import type { Look } from './look.ts'

/** Waiting runs of a queue that are looked at one by one; where there are more, the queue as a whole is told of. */
const MAX_WAITING = 500
/** Runs of one schedule that are looked at, from the newest. */
const NEWEST = 20

export interface LateQuestion {
  readonly rule: { readonly workspace: string; readonly settings: { readonly graceMs: number } }
  readonly alerts: readonly Alert[]
}

export async function lateSchedules(
  look: Look,
  { rule, alerts }: LateQuestion,
): Promise<FactsOf<'schedule_not_fired'>> {
  const { workspace, settings } = rule
  const beforeAt = look.now - settings.graceMs
  const late = new Map<string, LateSchedule>()
  const add = (each: LateSchedule): void => {
    const known = late.get(each.id)
    if (!known || each.sinceAt < known.sinceAt) late.set(each.id, each)
  }
  const overdue = await findSchedules(look, { ...within(rule), overdueMs: settings.graceMs })
  for (const each of overdue) if (each.nextAt !== null) add(lateOf(each, each.nextAt, 'not planned'))
  const deep: FactsOf<'schedule_not_fired'>['deep'][number][] = []
  for (const { name: queue, paused, oldestDueAt, ready } of await look.queues()) {
    // A queue that somebody paused holds its runs back on purpose.
    if (paused || oldestDueAt === null || oldestDueAt >= beforeAt) continue
    const runs = ready < MAX_WAITING ? await waitingRuns(look, { ...within(rule), queue }) : null
    if (!runs) deep.push({ queue, workspace, sinceAt: oldestDueAt })
    for (const run of runs ?? [])
      if (isUnbegun(run) && run.dueAt < beforeAt && run.schedule)
        add(lateOf({ id: run.schedule.id, workspace: run.workspace, key: run.schedule.key }, run.dueAt, 'not started'))
  }
  // Those that are known to be late may be beyond what one look finds.
  for (const each of await stillLate(look, alerts)) add(each)
  return { late: [...late.values()], deep }
}

const lateOf = (each: NamedSchedule, sinceAt: number, because: LateSchedule['because']): LateSchedule => ({
  ...nameOf(each),
  sinceAt,
  because,
})

/** Never begun, and kept back by nobody's lane. */
const isUnbegun = ({ state, attempt, gate }: Pick<Run, 'state' | 'attempt' | 'gate'>): boolean =>
  state === 'pending' && attempt === 0 && gate === 'open'

/** Null when there are too many to look at. */
async function waitingRuns(look: Look, filter: RunFilter): Promise<readonly Run[] | null> {
  const runs = await look.store.history.runs({ ...filter, states: ['pending'] }, { limit: MAX_WAITING })
  return runs.length < MAX_WAITING ? runs : null
}

/** Since when the schedules that alerts are about wait, if for anything; whether that is too long is for the rule to say. */
async function stillLate(look: Look, alerts: readonly Alert[]): Promise<LateSchedule[]> {
  const found = await schedulesOf(look, alerts)
  if (found.length === 0) return []
  const paused = new Set((await look.queues()).filter((queue) => queue.paused).map(({ name }) => name))
  const latest = await look.store.history.latest(
    found.map(({ id }) => id),
    NEWEST,
  )
  return found.flatMap((each) => {
    const waiting = (latest.get(each.id) ?? []).filter((run) => isUnbegun(run) && !paused.has(run.queue))
    const runs = waiting.map(({ dueAt }) => lateOf(each, dueAt, 'not started'))
    return each.nextAt === null ? runs : [lateOf(each, each.nextAt, 'not planned'), ...runs]
  })
}
