/** Says what storing schedules would change, field by field and in their next fires; nothing is written here. */
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

/** Null while paused, and when there is no further one. */
export interface NextFires {
  readonly before: Date | null
  readonly after: Date | null
}

/** In the order given; refused as a whole when one of them could not be stored. */
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

/** One schedule after another: to put a hundred exclusions into words takes long enough. */
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

/** What is stored under the names of these, by `nameOf`. */
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
  /** How the schedule of the same place is created, if it is new. */
  readonly pauses: readonly (InitialPause | null)[]
  /** Of the search for all of them. */
  readonly budget: SearchBudget
}

/** When each fires next as it is stored, and when it will by its new definition. */
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
