/** Creates the app that `dev` runs: the exported app, or one from the options of the project, with the chosen database and a clock that can move ahead. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { createEngine } from '../../engine/engine.ts'
import { readStoreAddress } from '../../open-store.ts'
import { coreOf } from '../../scheduler/core.ts'
import type { EverytickOptions } from '../../scheduler/settings.ts'
import { interruptOnUncaught } from '../../scheduler/uncaught.ts'
import { createApp, type Everytick } from '../../scheduler.ts'
import { openSqlite } from '../../store/sqlite/store.ts'
import { systemClock } from '../../time/clock.ts'
import { systemTimers } from '../../time/timers.ts'
import { inFile, type LoadedConfig, optionsOf } from '../config-file.ts'
import { OWNER_FILE, OWNER_FOLDER } from '../owner-only.ts'
import { DEV_FILE } from '../project-store.ts'
import { alongside, besides, type TargetOptions, targetJobs } from '../target-jobs.ts'
import { UsageError } from '../usage-error.ts'
import { DEMO } from './demo-project.ts'
import { aheadOf, movedClock } from './moved-clock.ts'

export interface DevApp {
  readonly app: Everytick
  /** For display. */
  readonly store: string
  readonly isNew: boolean
  readonly openedMs: number
  readonly demo: boolean
  /** Number of jobs that neither the user nor the demo defines. */
  readonly added: number
  /** The SQLite file whose clock can move ahead; null when dev does not control the clock. */
  readonly clockOf: string | null
  readonly aheadMs: number
  close(): Promise<void>
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const noSignal = (): (() => void) => () => {}

export interface DevWishes {
  readonly db: string | null
  readonly targets: TargetOptions
}

export async function openDevApp(loaded: LoadedConfig, { db, targets }: DevWishes): Promise<DevApp> {
  const { app, file } = loaded
  if (app && db !== null)
    throw new UsageError(`${file} exports an app, which has its own database`, {
      hint: 'leave out --db, or export the options of the app with defineConfig',
    })
  if (app && targets.allowCommand)
    throw new UsageError(`${file} exports an app, which --allow-command cannot change`, {
      hint: 'add command({ allow: … }) to its jobs',
    })
  if (app) return givenApp(app)
  const demo = (loaded.options.jobs ?? []).length === 0 && (loaded.options.schedules ?? []).length === 0
  const said = optionsOf(loaded, { fallback: `sqlite:${DEV_FILE}`, ...(db === null ? {} : { said: db }) })
  // dev already prints a line per event.
  const project = { logger: quiet, ...said, ...(demo ? DEMO : {}) }
  const added = besides(project.jobs, targetJobs(targets, true))
  const options = { ...project, jobs: alongside(project.jobs, added) }
  const address = typeof options.store === 'string' ? readStoreAddress(options.store) : null
  const made = address?.kind === 'sqlite' ? await onFile(options, address.path) : await elsewhere(options)
  return {
    ...made,
    demo,
    added: added.length,
    app: inFile(file ?? loaded.jobsFile, () => createApp(made.options, made.seams)),
  }
}

async function givenApp(app: Everytick): Promise<DevApp> {
  const startedAt = systemClock.elapsed()
  const { name } = await coreOf(app).store()
  const openedMs = systemClock.elapsed() - startedAt
  const fixed = { isNew: false, demo: false, added: 0, clockOf: null, aheadMs: 0 }
  return { ...fixed, app, store: name, openedMs, close: async () => {} }
}

async function onFile(options: EverytickOptions, path: string) {
  const isNew = path === ':memory:' || !existsSync(path)
  if (path !== ':memory:') makeFolder(path)
  const aheadMs = aheadOf(path)
  const clock = movedClock(aheadMs)
  const startedAt = systemClock.elapsed()
  const store = await openSqlite({ path, clock })
  return {
    ...{ isNew, aheadMs, openedMs: systemClock.elapsed() - startedAt, clockOf: path === ':memory:' ? null : path },
    store: `SQLite ${path === ':memory:' ? 'in memory' : relative('.', path) || path}`,
    options: { ...options, store },
    seams: { clock, timers: systemTimers, createEngine, onSignal: noSignal, onUncaught: interruptOnUncaught },
    close: () => store.close(),
  }
}

/** A shared database has its own clock, and so does a store that the configuration opened. */
async function elsewhere(options: EverytickOptions) {
  return {
    ...{ isNew: false, aheadMs: 0, openedMs: 0, clockOf: null, options },
    store: typeof options.store === 'string' ? 'Postgres' : options.store.name,
    seams: {
      clock: systemClock,
      timers: systemTimers,
      createEngine,
      onSignal: noSignal,
      onUncaught: interruptOnUncaught,
    },
    close: async () => {},
  }
}

function makeFolder(path: string): void {
  const folder = dirname(path)
  const isOurs = folder === dirname(DEV_FILE) && !existsSync(folder)
  mkdirSync(folder, { recursive: true, mode: OWNER_FOLDER })
  // Keeps the database out of Git.
  if (isOurs) writeFileSync(join(folder, '.gitignore'), '*\n', { mode: OWNER_FILE })
}
