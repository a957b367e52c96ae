/** Schedules and runs in groups, to try a store with; what must hold for them is said in `groups.ts`, `group-moves.ts` and `group-races.ts`. */
import { occurrenceId } from '../../plan/occurrence.ts'
import { type GroupMove, OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Overlap, Readiness, Run } from '../../run/run.ts'
import type { Schedule, ScheduleDefinition } from '../../schedule/schedule.ts'
import type { Store } from '../../store/contract/store.ts'
import { claimed, definitionOf, MINUTE, type Planned, planFor, putNew } from './samples.ts'

/** The plan by which the next `count` minutes become runs that go one after another. */
export function groupPlan(schedule: Schedule, count: number, change: Partial<Plan> = {}): Plan {
  const { overlap } = schedule.firing
  const runs = planFor(schedule, count).runs.map((run) => ({ ...run, overlap }))
  return planFor(schedule, count, { group: schedule.id, runs, ...change })
}

export interface InGroup {
  readonly overlap?: Overlap
  readonly group?: string
  readonly change?: Partial<ScheduleDefinition>
  /** When the first is due, from now; by itself so soon that it may be opened. */
  readonly inMs?: number
}

/** Well within the time by which a run may be opened ahead. */
export const SOON_MS = OPEN_AHEAD_MS - 5000

/** A schedule whose next occurrences are planned, in a concurrency group of its own unless told otherwise. */
export async function plannedInGroup(store: Store, count: number, how: InGroup = {}): Promise<Planned> {
  const firing = { ...definitionOf().firing, overlap: how.overlap ?? 'queue' }
  const now = await store.now()
  const nextAt = now + (how.inMs ?? SOON_MS)
  const schedule = await putNew(store, { firing, ...how.change }, { nextAt, watermarkAt: Math.min(now, nextAt - 1) })
  const plan = groupPlan(schedule, count, how.group === undefined ? {} : { group: how.group })
  await store.planning.record([plan])
  const stored = (await store.schedules.get(schedule.workspace, schedule.key))!
  return { schedule: stored, ids: plan.runs.map(({ id }) => id), firstAt: schedule.nextAt! }
}

/** Plans `count` more of it. */
export async function planMore(store: Store, { schedule }: Planned, count: number): Promise<string[]> {
  const stored = (await store.schedules.get(schedule.workspace, schedule.key))!
  await store.planning.record([groupPlan(stored, count)])
  return Array.from({ length: count }, (_, i) => occurrenceId(schedule.id, stored.nextAt! + i * MINUTE))
}

/** The gates of these runs, null where there is none. */
export async function readinessOf(store: Store, ids: readonly string[]): Promise<(Readiness | null)[]> {
  const readiness: (Readiness | null)[] = []
  for (const id of ids) readiness.push((await store.history.run(id))?.readiness ?? null)
  return readiness
}

/** The run of this group that can be claimed now; there must be one. */
export async function granted(store: Store, id: string): Promise<Run> {
  const run = (await claimed(store)).find((one) => one.id === id)
  if (!run) throw new Error(`run ${id} was not granted`)
  return run
}

/** One group's moves. */
export const move = (store: Store, ...moves: GroupMove[]): Promise<void> => store.groups.apply([moves])
