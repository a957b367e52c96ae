/** Schedules and runs in lanes, to try a store with; what must hold for them is said in `lanes.ts`, `lane-moves.ts` and `races-of-lanes.ts`. */
import { occurrenceId } from '../../plan/occurrence.ts'
import { type LaneMove, OPEN_AHEAD_MS } from '../../plan/overlap.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Gate, Overlap, Run } from '../../run/run.ts'
import type { Schedule, ScheduleDefinition } from '../../schedule/schedule.ts'
import type { Store } from '../../store/contract/store.ts'
import { claimed, definitionOf, MINUTE, type Planned, planFor, putNew } from './samples.ts'

/** The plan by which the next `count` minutes become runs that go one after another. */
export function lanePlan(schedule: Schedule, count: number, change: Partial<Plan> = {}): Plan {
  const { overlap } = schedule.firing
  const runs = planFor(schedule, count).runs.map((run) => ({ ...run, overlap }))
  return planFor(schedule, count, { lane: schedule.id, runs, ...change })
}

export interface InLane {
  readonly overlap?: Overlap
  readonly lane?: string
  readonly change?: Partial<ScheduleDefinition>
  /** When the first is due, from now; by itself so soon that it may be opened. */
  readonly inMs?: number
}

/** Well within the time by which a run may be opened ahead. */
export const SOON_MS = OPEN_AHEAD_MS - 5000

/** A schedule whose next occurrences are planned, in a lane of its own unless told otherwise. */
export async function plannedInLane(store: Store, count: number, how: InLane = {}): Promise<Planned> {
  const firing = { ...definitionOf().firing, overlap: how.overlap ?? 'queue' }
  const now = await store.now()
  const nextAt = now + (how.inMs ?? SOON_MS)
  const schedule = await putNew(store, { firing, ...how.change }, { nextAt, watermarkAt: Math.min(now, nextAt - 1) })
  const plan = lanePlan(schedule, count, how.lane === undefined ? {} : { lane: how.lane })
  await store.planning.record([plan])
  const stored = (await store.schedules.get(schedule.workspace, schedule.key))!
  return { schedule: stored, ids: plan.runs.map(({ id }) => id), firstAt: schedule.nextAt! }
}

/** Plans `count` more of it. */
export async function planMore(store: Store, { schedule }: Planned, count: number): Promise<string[]> {
  const stored = (await store.schedules.get(schedule.workspace, schedule.key))!
  await store.planning.record([lanePlan(stored, count)])
  return Array.from({ length: count }, (_, i) => occurrenceId(schedule.id, stored.nextAt! + i * MINUTE))
}

/** The gates of these runs, null where there is none. */
export async function gatesOf(store: Store, ids: readonly string[]): Promise<(Gate | null)[]> {
  const gates: (Gate | null)[] = []
  for (const id of ids) gates.push((await store.history.run(id))?.gate ?? null)
  return gates
}

/** The run of this lane that can be claimed now; there must be one. */
export async function granted(store: Store, id: string): Promise<Run> {
  const run = (await claimed(store)).find((one) => one.id === id)
  if (!run) throw new Error(`run ${id} was not granted`)
  return run
}

/** One lane's moves. */
export const move = (store: Store, ...moves: LaneMove[]): Promise<void> => store.lanes.apply([moves])
