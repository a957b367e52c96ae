/** Finds and loads the configuration file of a project, and locates its errors; the scheduler reads the options. */
import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EverytickError, shown } from '../errors.ts'
import { isJob, type Job } from '../job.ts'
import { type DeclaredSchedule, readSchedule, type ScheduleOptions } from '../schedule-definition.ts'
import { coreOf } from '../scheduler/core.ts'
import type { Config } from '../scheduler/define-config.ts'
import { checkOptionNames, type EverytickOptions } from '../scheduler/settings.ts'
import type { Everytick } from '../scheduler.ts'
import { noConfigRefusal, withoutConfig } from './no-config.ts'
import { UsageError } from './usage-error.ts'
import { importUserModule } from './user-module.ts'

export interface LoadedConfig {
  /** The path for display; null when there is no configuration file. */
  readonly file: string | null
  /** The jobs file found by its default path; null when the configuration lists jobs, or there is none. */
  readonly jobsFile: string | null
  /** The options for `everytick()` that the file sets. */
  readonly options: Omit<Config, 'schedules'> & Pick<EverytickOptions, 'schedules'>
  /** When the file exports an app instead of options. */
  readonly app: Everytick | null
  /** Exported for `dev`, which calls it once the server responds. */
  readonly onReady: ((at: { readonly url: string }) => unknown) | null
}

const SCRIPTS = ['ts', 'mts', 'js', 'mjs']
export const CONFIG_FILES: readonly string[] = [...SCRIPTS, 'json'].map((end) => `everytick.config.${end}`)
export const JOB_FILES: readonly string[] = ['src', '.'].flatMap((folder) =>
  SCRIPTS.map((end) => join(folder, `jobs.${end}`)),
)
const NOTHING: LoadedConfig = { file: null, jobsFile: null, options: {}, app: null, onReady: null }

/** Loads the named file, or the one in the folder; and jobs.ts if no configuration lists jobs. */
export async function loadConfig(path?: string, folder: string = process.cwd()): Promise<LoadedConfig> {
  if (withoutConfig(path)) return NOTHING
  const file = path === undefined ? found(folder, CONFIG_FILES) : resolve(folder, path)
  if (path !== undefined && !existsSync(file!))
    throw new UsageError(`file ${path} does not exist`, { hint: 'pass --config the path of a configuration file' })
  const config = file === null ? NOTHING : await readConfig(file)
  if (config.app || config.options.jobs !== undefined) return config
  const place = file === null ? folder : join(file, '..')
  const jobsFile = found(place, JOB_FILES)
  return jobsFile === null ? config : withJobs(config, jobsFile)
}

/** The options to call `everytick()` with; `store` is that of the command line, else of the file, else the fallback. */
export function optionsOf(
  { options, file }: LoadedConfig,
  stores: { said?: string; fallback?: string },
): EverytickOptions {
  const store = stores.said ?? options.store ?? stores.fallback
  if (store !== undefined) return { ...options, store, jobs: options.jobs ?? [] }
  const refusal = noConfigRefusal('a database', 'pass --db, or set DATABASE_URL')
  if (refusal) throw refusal
  throw new UsageError('No database given', {
    hint: `pass --db, set DATABASE_URL, or name a store in ${file ?? 'everytick.config.ts'}`,
  })
}

const found = (folder: string, names: readonly string[]): string | null =>
  names.map((name) => resolve(folder, name)).find((path) => existsSync(path)) ?? null

const nameOf = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') || isAbsolute(short) ? path : short
}

async function readConfig(path: string): Promise<LoadedConfig> {
  const file = nameOf(path)
  if (path.endsWith('.json')) return { ...NOTHING, file, options: readOptions(readJson(path), path) }
  const { default: said, app, onReady } = await importFile(path)
  const main = await (said ?? app)
  const ready = typeof onReady === 'function' ? (onReady as NonNullable<LoadedConfig['onReady']>) : null
  if (isApp(main)) return { ...NOTHING, file, app: main, onReady: ready }
  if (main === undefined)
    throw new UsageError(`${file} does not export a configuration`, {
      hint: 'add: export default defineConfig({ jobs, schedules })',
    })
  return { ...NOTHING, file, options: readOptions(main, path), onReady: ready }
}

function readOptions(said: unknown, path: string): LoadedConfig['options'] {
  if (typeof said !== 'object' || said === null || Array.isArray(said))
    throw new UsageError(`${nameOf(path)}: the configuration must be an object, not ${shown(said)}`)
  inFile(path, () => checkOptionNames(said))
  const { schedules, ...options } = said as Config
  if (schedules === undefined) return options
  if (!Array.isArray(schedules))
    throw new UsageError(`${nameOf(path)}: schedules must be a list, not ${shown(schedules)}`)
  return { ...options, schedules: inFile(path, () => schedules.map(declared)) }
}

/** For JSON files and other plain objects that were not made by `schedule()`. */
const declared = (each: DeclaredSchedule | ScheduleOptions): DeclaredSchedule =>
  isDeclared(each) ? each : readSchedule(each)

const isDeclared = (value: unknown): value is DeclaredSchedule =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schedule'

/** Adds every job and schedule that the file exports, alone or in lists. */
async function withJobs(config: LoadedConfig, path: string): Promise<LoadedConfig> {
  const exported = new Set(Object.values(await importFile(path)).flat())
  const jobs = [...exported].filter((value): value is Job => isJob(value))
  const schedules = config.options.schedules ?? [...exported].filter(isDeclared)
  return { ...config, jobsFile: nameOf(path), options: { ...config.options, jobs, schedules } }
}

function isApp(value: unknown): value is Everytick {
  try {
    coreOf(value as object)
    return true
  } catch {
    return false
  }
}

function readJson(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    const { message } = cause as Error
    const position = /position (\d+)/.exec(message)?.[1]
    const line = position === undefined ? '' : `:${text.slice(0, Number(position)).split('\n').length}`
    throw new UsageError(`${nameOf(path)}${line} is not JSON: ${message}`, { cause })
  }
}

async function importFile(path: string): Promise<Record<string, unknown>> {
  try {
    return await importUserModule(path)
  } catch (error) {
    throw located(error, path)
  }
}

/** Adds the file to errors that `work` throws. */
export function inFile<T>(path: string | null, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw path === null ? error : located(error, path)
  }
}

/** Puts the location in front of the message. Our errors keep their code; others become CONFIG_FAILED. */
function located(error: unknown, path: string): Error {
  if (error instanceof UsageError) return error
  const message = messageOf(error)
  const place = placeOf(error, path)
  const text = message.startsWith(place) ? message : `${place}: ${message}`
  if (error instanceof EverytickError) {
    const { code, hint, source, span } = error
    const details = { ...(hint && { hint }), ...(source !== undefined && { source }), ...(span && { span }) }
    return new EverytickError(code, text, { ...details, cause: error })
  }
  const hint = hintOf(error)
  return new UsageError(text, { code: 'CONFIG_FAILED', cause: error, ...(hint === null ? {} : { hint }) })
}

/** Drops the locations that the loader adds below the first line, because we put ours in front. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isLoaders = (error as { code?: unknown }).code === 'MODULE_NOT_FOUND' || error.message.startsWith('ParseError')
  return isLoaders ? error.message.split('\n')[0]!.trim() : error.message
}

/** The first stack frame in a file of the user: `jobs.ts:12:5`. */
function placeOf(error: unknown, path: string): string {
  const lines = (error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : '').split('\n')
  for (const line of lines) {
    const [, file, at] =
      /((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^():]*\.[mc]?[jt]s(?:on|x)?):(\d+(?::\d+)?)/.exec(line) ?? []
    if (file === undefined || at === undefined || !isUsers(file)) continue
    return `${nameOf(file.startsWith('file:') ? fileURLToPath(file) : file)}:${at}`
  }
  return nameOf(path)
}

const OWN = fileURLToPath(new URL('..', import.meta.url))

const isUsers = (file: string): boolean => {
  const path = file.startsWith('file:') ? fileURLToPath(file) : file
  return !path.startsWith(OWN) && !path.includes('node_modules')
}

function hintOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND')
    return 'check that it is installed and that the path is correct'
  const { name = '', message = '' } = (error ?? {}) as Partial<Error>
  return name === 'SyntaxError' || message.startsWith('ParseError') ? 'fix the syntax error in the file' : null
}
