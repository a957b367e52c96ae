/** `everytick sync`: stores the schedules of the configuration file, or prints what that would change. */
import { openStore } from '../../open-store.ts'
import { SMALL_SEARCH, searchBudget } from '../../schedule/search-budget.ts'
import { coreOf } from '../../scheduler/core.ts'
import { definitionsOf } from '../../scheduler/definitions.ts'
import { type NextFires, nextFires, storedUnder } from '../../scheduler/preview.ts'
import type { SyncReport } from '../../scheduler/sync.ts'
import { nameOf } from '../../scheduler/sync-plan.ts'
import { type Everytick, everytick } from '../../scheduler.ts'
import { systemClock } from '../../time/clock.ts'
import { releaseFiles } from '../backend.ts'
import { changesText, type ShownChange } from '../changes-text.ts'
import { whereabouts } from '../config.ts'
import { loadConfig, optionsOf } from '../config-file.ts'
import type { Io } from '../io.ts'
import { noConfigRefusal } from '../no-config.ts'
import { jsonText } from '../print.ts'
import { UsageError } from '../usage-error.ts'

export interface SyncOptions {
  readonly db?: string
  readonly config?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export async function sync(options: SyncOptions, io: Io): Promise<void> {
  const dryRun = options.dryRun ?? false
  const app = await appOf(options, dryRun)
  try {
    // Read the next fires before the change, because afterwards they are lost.
    const fires = await firesOf(app)
    const report = await app.sync({ dryRun })
    const plan = shownPlan({ report, fires, deletedAt: await deletionOf(app), dryRun })
    if (options.json) io.write(`${jsonText({ dryRun, ...report, plan })}\n`)
    else {
      io.write(changesText(plan, await io.view()))
      io.note(sumText(report, dryRun))
    }
    if (report.outdated)
      throw new UsageError('a newer build has stored its schedules, so this build did not store its own', {
        code: 'BUILD_OUTDATED',
        hint: 'sync the newer build, or increase build in the configuration',
      })
  } finally {
    await app.stop()
    await releaseFiles(coreOf(app).settings.store)
  }
}

/** A dry run neither creates nor migrates a database. */
async function appOf({ db, config }: SyncOptions, dryRun: boolean): Promise<Everytick> {
  const loaded = await loadConfig(config)
  const refusal = noConfigRefusal(
    'schedules',
    'leave out --no-config, or store schedules from a file: everytick apply --file, with --url or --db',
  )
  if (refusal) throw refusal
  if (loaded.app) {
    if (db === undefined && dryRun) await refuseUnready(loaded.app)
    if (db === undefined) return loaded.app
    throw new UsageError(`${loaded.file} exports an app, which has its own store`, { hint: 'leave out --db' })
  }
  if (loaded.file === null && loaded.jobsFile === null)
    throw new UsageError('no configuration file in this folder', {
      code: 'CONFIG_MISSING',
      hint: 'create an everytick.config.ts that lists schedules, or pass --config',
    })
  const said = db ?? whereabouts().db
  const given = { ...optionsOf(loaded, said === undefined ? {} : { said }), logger: quiet }
  return everytick(dryRun ? { ...given, migrate: false } : given)
}

/** Throws if the app would have to create or migrate its database. */
async function refuseUnready(app: Everytick): Promise<void> {
  const { store } = coreOf(app).settings
  try {
    if (typeof store === 'string') await (await openStore(store, { clock: systemClock, migrate: false })).close()
  } finally {
    await releaseFiles(store)
  }
}

async function firesOf(app: Everytick): Promise<ReadonlyMap<string, NextFires>> {
  const core = coreOf(app)
  const definitions = await definitionsOf(core, core.settings.schedules, 'code')
  const pauses = core.settings.schedules.map(({ pause }) => pause)
  const budget = searchBudget(definitions.length * SMALL_SEARCH)
  const fires = await nextFires(core, definitions, { stored: await storedUnder(core, definitions), pauses, budget })
  return new Map(definitions.map((definition, i) => [nameOf(definition), fires[i]!]))
}

/** The day on which schedules orphaned now are deleted. */
async function deletionOf(app: Everytick): Promise<string> {
  const { store, settings } = coreOf(app)
  const now = await (await store()).now()
  return new Date(now + settings.retention.orphansMs).toISOString().slice(0, 10)
}

interface Told {
  readonly report: SyncReport
  readonly fires: ReadonlyMap<string, NextFires>
  readonly deletedAt: string
  readonly dryRun: boolean
}

function shownPlan({ report, fires, deletedAt, dryRun }: Told): ShownChange[] {
  return report.plan.map((step) => {
    const nextFireAt = step.action === 'keep paused' ? undefined : fires.get(nameOf(step))
    const note = step.action === 'orphan' ? `${dryRun ? 'will be paused' : 'paused'}, deleted ${deletedAt}` : undefined
    return { ...step, ...(nextFireAt ? { nextFireAt } : {}), ...(note === undefined ? {} : { note }) }
  })
}

function sumText({ created, changed, unchanged, orphaned, removed, outdated }: SyncReport, dryRun: boolean): string {
  if (outdated) return ''
  const counts = { created, changed, unchanged, orphaned: orphaned.length, removed: removed.length }
  const words = Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
  return `${words.join(', ') || 'no schedules'}${dryRun ? '; nothing was written' : ''}\n`
}
