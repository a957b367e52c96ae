/** Brings the stored schedules in line with those in code, one build at a time; what is to be done is decided by `sync-plan.ts`. */
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
  /** Answers what would be done, and writes nothing. */
  readonly dryRun?: boolean
}

export interface SyncReport {
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  /** Names, as `workspace/key`, of schedules that code no longer has and that were paused now. */
  readonly orphaned: readonly string[]
  /** Those that were removed instead, because the app says so. */
  readonly removed: readonly string[]
  /** A newer build has been here, so this one changed nothing. */
  readonly outdated: boolean
  /** What was done, or would be: one step for each schedule that does not simply stay as it is. */
  readonly plan: readonly SyncStep[]
}

const PAGE = 1000

export async function syncSchedules(core: Core, options: SyncOptions = {}): Promise<SyncReport> {
  checkKeys(options, ['dryRun'], 'sync()')
  const dryRun = readBoolean(options.dryRun ?? false, 'dryRun')
  const source = sourceOf(core.settings.name)
  // All payloads first: one that does not fit its schema must leave everything as it was.
  const definitions = await definitionsOf(core, core.settings.schedules, source)
  if (dryRun) return preview(core, definitions, source)
  const lease = await acquireSync(core, source)
  try {
    return await sync(core, definitions, { source, renew: lease.renew })
  } finally {
    await lease.release()
  }
}

/** The name of the app is part of it, so that two apps on one store leave each other's schedules alone. */
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
    logger.warn('a newer build has stored its schedules, so those of this one were left out', { build, newest })
    return leftOut(definitions)
  }
  const plan = await look(core, definitions, source)
  await renew()
  const pauses = core.settings.schedules.map(({ pause }) => pause)
  // A pause by `sync` is that of an orphan, which the next sync would lift.
  const putting = { by: SYNC, pauses, pausedBy: source }
  const { answers } = definitions.length > 0 ? await putSchedules(core, definitions, putting) : { answers: [] }
  await renew()
  for (const step of plan) await follow(core, step)
  const created = answers.filter((answer) => answer.created).length
  const changed = answers.filter((answer) => !answer.created && answer.changed).length
  return { ...report(plan, definitions), created, changed, unchanged: answers.length - created - changed }
}

/** Everything but what is put, which happens in one write. */
async function follow(core: Core, { action, name, workspace, key }: SyncStep): Promise<void> {
  const { schedules } = await core.store()
  // Somebody may have paused it since we looked, and their pause stays.
  const pause = (await schedules.get(workspace, key))?.pause
  if (pause && pause.by !== SYNC) return
  if (action === 'take back') {
    const again = async (): Promise<Schedule> => {
      const found = await schedules.get(workspace, key)
      if (found) return found
      throw new EverytickError('SCHEDULE_NOT_FOUND', `"${name}" was removed while it was synced`, {
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
  // What somebody else put under a name that code has becomes code's.
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
