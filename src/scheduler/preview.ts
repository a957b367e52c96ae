/** Previews what storing schedules would change: fields and next fires. Writes nothing. */
import { dateOf } from '../schedule/instant.ts'
import { type Schedule, type ScheduleDefinition, seedOf } from '../schedule/schedule.ts'
import { findingRuns } from '../schedule/search.ts'
import type { SearchBudget } from '../schedule/search-budget.ts'
import { slotsOf } from '../schedule/slots.ts'
import type { DeclaredSchedule } from '../schedule-definition.ts'
import { inSteps } from '../time/in-steps.ts'
import type { Steps } from '../time/steps.ts'
import type { Core } from './core.ts'
import { definitionsOf } from './definitions.ts'
import type { InitialPause } from './read-pause.ts'
import { nextFire } from './schedule-view.ts'
import { chunks } from './schedule-writing.ts'
import { nameOf, planSync, type SyncStep } from './sync-plan.ts'

export interface Preview extends Pick<SyncStep, 'workspace' | 'key' | 'before' | 'after' | 'paused'> {
  readonly action: 'create' | 'update' | 'none'
  readonly nextFireAt: NextFires
}

/** Null while the schedule is paused, and without a further run. */
export interface NextFires {
  readonly before: Date | null
  readonly after: Date | null
}

/** In the given order; throws if any of the schedules could not be stored. */
export async function preview(
  core: Core,
  declared: readonly DeclaredSchedule[],
  budget: SearchBudget,
): Promise<Preview[]> {
  const definitions = await definitionsOf(core, declared, 'api')
  const stored = await storedUnder(core, definitions)
  const pauses = declared.map(({ pause }) => pause)
  const fires = await nextFires(core, definitions, { stored, pauses, budget })
  const steps = await inSteps(comparing(definitions, stored))
  const stepOf = new Map(steps.map((step) => [nameOf(step), step]))
  return definitions.map(({ workspace, key }, i) => {
    const step = stepOf.get(nameOf({ workspace, key }))
    const {
      before,
      after,
      paused = stored.has(nameOf({ workspace, key })) ? undefined : pauses[i]?.reason,
    } = step ?? {}
    return {
      workspace,
      key,
      action: after === undefined ? 'none' : before === undefined ? 'create' : 'update',
      nextFireAt: fires[i]!,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      ...(paused === undefined ? {} : { paused }),
    }
  })
}

/** One schedule per step, because formatting a hundred exclusions takes a while. */
function* comparing(
  definitions: readonly ScheduleDefinition[],
  stored: ReadonlyMap<string, Schedule>,
): Steps<SyncStep[]> {
  const steps: SyncStep[] = []
  for (const definition of definitions) {
    yield
    const known = stored.get(nameOf(definition))
    steps.push(...planSync({ definitions: [definition], stored: known ? [known] : [], removed: 'pause' }))
  }
  return steps
}

/** The stored schedules of the given names, by `nameOf`. */
export async function storedUnder(
  core: Core,
  definitions: readonly Pick<ScheduleDefinition, 'workspace' | 'key'>[],
): Promise<ReadonlyMap<string, Schedule>> {
  const { schedules } = await core.store()
  const found = new Map<string, Schedule>()
  for (const some of chunks(definitions)) {
    for (const schedule of await Promise.all(some.map(({ workspace, key }) => schedules.get(workspace, key))))
      if (schedule) found.set(nameOf(schedule), schedule)
  }
  return found
}

export interface Beginning {
  readonly stored: ReadonlyMap<string, Schedule>
  /** The initial pause of the definition with the same index, if it is new. */
  readonly pauses: readonly (InitialPause | null)[]
  /** Shared by the searches of all schedules. */
  readonly budget: SearchBudget
}

/** The next fire of each schedule as stored, and by its new definition. */
export async function nextFires(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  beginning: Beginning,
): Promise<NextFires[]> {
  const now = await (await core.store()).now()
  return inSteps(findingFires(definitions, beginning, now))
}

function* findingFires(
  definitions: readonly ScheduleDefinition[],
  { stored, pauses, budget }: Beginning,
  now: number,
): Steps<NextFires[]> {
  const fires: NextFires[] = []
  for (const [i, definition] of definitions.entries()) {
    yield
    const before = stored.get(nameOf(definition))
    const isPaused = before ? before.pause : pauses[i]
    const slots = slotsOf(definition.timing, seedOf(definition))
    const [after] = isPaused ? [] : yield* findingRuns(slots, { afterAt: now, count: 1 }, budget)
    fires.push({ before: before ? nextFire(before, now).nextFireAt : null, after: dateOf(after ?? null) })
  }
  return fires
}
