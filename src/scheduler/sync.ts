/** Syncs the schedules declared in code to the store, one build at a time; `sync-plan.ts` decides the steps. */
import { EverytickError } from '../errors.ts'
import { checkKeys, readBoolean } from '../options.ts'
import type { Schedule, ScheduleDefinition } from '../schedule/schedule.ts'
import type { Store } from '../store/contract/store.ts'
import type { Core } from './core.ts'
import { definitionsOf } from './definitions.ts'
import { emitChange } from './schedule-changes.ts'
import { chunks, putSchedules, resumeSchedule } from './schedule-writing.ts'
import { acquireSync } from './sync-lease.ts'
import { nameOf, planSync, SYNC, type SyncStep } from './sync-plan.ts'

export interface SyncOptions {
  /** Returns what would change, and writes nothing. */
  readonly dryRun?: boolean
}

export interface SyncReport {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  /** Names (`workspace/key`) of schedules that are no longer in code and that this sync paused. */
  readonly orphaned: readonly string[]
  /** Names of schedules that this sync deleted instead, because `removed` is `delete`. */
  readonly removed: readonly string[]
  /** A newer build has already synced, so this build changed nothing. */
  readonly outdated: boolean
  /** One step for each schedule that changed, would change or stays paused. */
  readonly plan: readonly SyncStep[]
}

const PAGE = 1000

export async function syncSchedules(core: Core, options: SyncOptions = {}): Promise<SyncReport> {
  checkKeys(options, ['dryRun'], 'sync()')
  const dryRun = readBoolean(options.dryRun ?? false, 'dryRun')
  const source = sourceOf(core.settings.name)
  // Validates all payloads first: an invalid one must leave everything unchanged.
  const definitions = await definitionsOf(core, core.settings.schedules, source)
  if (dryRun) return preview(core, definitions, source)
  const lease = await acquireSync(core, source)
  try {
    return await sync(core, definitions, { source, renew: lease.renew })
  } finally {
    await lease.release()
  }
}

/** Includes the name of the app, so that two apps on one store do not change each other's schedules. */
const sourceOf = (app: string): ScheduleDefinition['source'] => (app === '' ? 'code' : `code:${app}`)

async function preview(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  source: ScheduleDefinition['source'],
): Promise<SyncReport> {
  const { build } = core.settings
  const newest = build === null ? null : await (await core.store()).apps.newest(source)
  if (build !== null && newest !== null && newest > build) return leftOut(definitions)
  return report(await look(core, definitions, source), definitions)
}

const leftOut = (definitions: readonly ScheduleDefinition[]): SyncReport => ({
  ...report([], definitions),
  unchanged: 0,
  outdated: true,
})

interface Syncing {
  readonly source: ScheduleDefinition['source']
  readonly renew: () => Promise<void>
}

async function sync(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  { source, renew }: Syncing,
): Promise<SyncReport> {
  const { build, logger } = core.settings
  const store = await core.store()
  const newest = build === null ? null : await store.apps.sync(source, build)
  if (build !== null && newest !== null && newest > build) {
    logger.warn('a newer build has already stored its schedules, so this build stores none', { build, newest })
    return leftOut(definitions)
  }
  const plan = await look(core, definitions, source)
  await renew()
  const pauses = core.settings.schedules.map(({ pause }) => pause)
  // Initial pauses use another actor than `sync`, because the next sync resumes what `sync` paused.
  const putting = { by: SYNC, pauses, pausedBy: source }
  const { answers } = definitions.length > 0 ? await putSchedules(core, definitions, putting) : { answers: [] }
  await renew()
  for (const step of plan) await follow(core, step)
  const created = answers.filter((answer) => answer.created).length
  const changed = answers.filter((answer) => !answer.created && answer.changed).length
  return { ...report(plan, definitions), created, changed, unchanged: answers.length - created - changed }
}

/** Executes the steps that are not part of the one write. */
async function follow(core: Core, { action, name, workspace, key }: SyncStep): Promise<void> {
  const { schedules } = await core.store()
  // If an operator has paused it since the read, that pause stays.
  const pause = (await schedules.get(workspace, key))?.pause
  if (pause && pause.by !== SYNC) return
  if (action === 'take back') {
    const again = async (): Promise<Schedule> => {
      const found = await schedules.get(workspace, key)
      if (found) return found
      throw new EverytickError('SCHEDULE_NOT_FOUND', `"${name}" was removed during the sync`, {
        hint: 'sync again',
      })
    }
    await resumeSchedule(core, again, { by: SYNC })
  } else if (action === 'orphan') {
    await schedules.pause(workspace, key, { reason: 'orphan: no longer in code', by: SYNC, until: null })
    emitChange(core, { action: 'paused', schedules: [{ workspace, key }], by: SYNC })
  } else if (action === 'remove') {
    await schedules.remove(workspace, key, SYNC)
    emitChange(core, { action: 'removed', schedules: [{ workspace, key }], by: SYNC })
  }
}

async function look(
  core: Core,
  definitions: readonly ScheduleDefinition[],
  source: ScheduleDefinition['source'],
): Promise<SyncStep[]> {
  const store = await core.store()
  const stored = await ownSchedules(store, source)
  const own = new Set(stored.map(nameOf))
  // Code takes over schedules with its names that another source created.
  for (const some of chunks(definitions.filter((definition) => !own.has(nameOf(definition))))) {
    const found = await Promise.all(some.map(({ workspace, key }) => store.schedules.get(workspace, key)))
    stored.push(...found.filter((schedule) => schedule !== null))
  }
  return planSync({ definitions, stored, removed: core.settings.removed })
}

async function ownSchedules(store: Store, source: string): Promise<Schedule[]> {
  const own: Schedule[] = []
  for (let after: Schedule | undefined; ; ) {
    const page = await store.schedules.list({ limit: PAGE, source, ...(after ? { after } : {}) })
    own.push(...page)
    after = page.at(-1)
    if (page.length < PAGE || !after) return own
  }
}

function report(plan: readonly SyncStep[], definitions: readonly ScheduleDefinition[]): SyncReport {
  const names = (action: SyncStep['action']): string[] =>
    plan.filter((step) => step.action === action).map(({ name }) => name)
  const created = names('create').length
  const changed = plan.filter(({ action, after }) => action !== 'create' && after !== undefined).length
  return {
    created,
    changed,
    unchanged: definitions.length - created - changed,
    orphaned: names('orphan'),
    removed: names('remove'),
    outdated: false,
    plan,
  }
}
