/** Brings the stored schedules in line with those in code: new and changed ones are put, vanished ones paused; nothing is deleted here. */
import { type Schedule, type ScheduleDefinition, seedOf } from '../schedule/schedule.ts'
import type { Store } from '../store/contract/store.ts'
import type { Core } from './core.ts'
import { definitionOf, putSchedules, resumeSchedule } from './schedule-writing.ts'

export interface SyncReport {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  /** Names, as `workspace/key`, of schedules that code no longer has and that were paused now. */
  readonly orphaned: readonly string[]
}

const PAGE = 1000
/** Who pauses what code no longer has; anybody else's pause is an operator's, and stays. */
const BY = 'sync'

export async function syncSchedules(core: Core): Promise<SyncReport> {
  const source = sourceOf(core.settings.name)
  const declared = core.settings.schedules
  // All payloads first: one that does not fit its schema must leave everything as it was.
  const definitions = await Promise.all(declared.map((each) => definitionOf(core, each, source)))
  const store = await core.store()
  const own = await ownSchedules(store, source)
  const { answers } = definitions.length > 0 ? await putSchedules(core, definitions) : { answers: [] }
  await takeBack(core, definitions, own)
  const created = answers.filter((answer) => answer.created).length
  const changed = answers.filter((answer) => !answer.created && answer.changed).length
  const unchanged = answers.length - created - changed
  return { created, changed, unchanged, orphaned: await orphan(store, definitions, own) }
}

/** The name of the app is part of it, so that two apps on one store leave each other's schedules alone. */
const sourceOf = (app: string): ScheduleDefinition['source'] => (app === '' ? 'code' : `code:${app}`)

async function ownSchedules(store: Store, source: string): Promise<Map<string, Schedule>> {
  const own = new Map<string, Schedule>()
  for (let after: Schedule | undefined; ; ) {
    const asked = { limit: PAGE, source, ...(after ? { after } : {}) }
    const page = await store.schedules.list(asked)
    for (const each of page) if (each.source === source) own.set(seedOf(each), each)
    after = page.at(-1)
    if (page.length < PAGE || !after) return own
  }
}

/** Those that were orphans and are in code again. */
async function takeBack(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  own: ReadonlyMap<string, Schedule>,
): Promise<void> {
  const store = await core.store()
  for (const definition of definitions) {
    if (own.get(seedOf(definition))?.pause?.by !== BY) continue
    await resumeSchedule(core, async () => (await store.schedules.get(definition.workspace, definition.key))!)
  }
}

async function orphan(
  store: Store,
  definitions: readonly ScheduleDefinition[],
  own: ReadonlyMap<string, Schedule>,
): Promise<string[]> {
  const wanted = new Set(definitions.map(seedOf))
  const orphaned: string[] = []
  for (const [name, { workspace, key, pause }] of own) {
    if (wanted.has(name) || pause !== null) continue
    await store.schedules.pause(workspace, key, { reason: 'orphan: no longer in code', by: BY, until: null })
    orphaned.push(name)
  }
  return orphaned
}
