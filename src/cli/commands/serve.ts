/** `everytick serve`: the REST API and the planner on a database; executes the jobs of the configuration and its options only with `--role all`. */
import type { Job } from '../../job.ts'
import { coreOf } from '../../scheduler/core.ts'
import type { Everytick } from '../../scheduler.ts'
import { createKeys } from '../../server/keys.ts'
import { type Listening, serve as listen } from '../../server/listen.ts'
import { createSessions } from '../../server/sessions.ts'
import { concurrencyOverrides } from '../concurrency.ts'
import { ownVersion, whereabouts } from '../config.ts'
import { type LoadedConfig, loadConfig } from '../config-file.ts'
import { configuredApp } from '../configured-app.ts'
import { keepHeapLean } from '../lean-heap.ts'
import { portProblem } from '../port-problem.ts'
import { printable, type View } from '../print.ts'
import { readConcurrency, readDrain, readPort } from '../read-number.ts'
import { type GivenToServe, serveWithoutKeysText } from '../serve-without-keys.ts'
import { announce, type LogOptions, readLog } from '../service-log.ts'
import { runUntilStopped } from '../stop-app.ts'
import { type TargetOptions, targetJobs } from '../target-jobs.ts'
import { UsageError } from '../usage-error.ts'

const STOPPING = '  stopping: no new requests and no new runs, those in flight may finish\n'
const INVITED = '        works once, within 15 minutes, and shows the first key'

export interface ServeOptions extends TargetOptions, LogOptions {
  readonly config?: string
  readonly db?: string
  readonly host: string
  readonly port: string
  readonly role: string
  readonly concurrency?: string
  readonly drain: string
  /** Start without keys, and accept only the one-time setup link. */
  readonly setup?: boolean
  readonly publicMetrics?: boolean
  readonly publicDocs?: boolean
  readonly privateChannels?: boolean
  readonly channelHost?: readonly string[]
}

export async function serve(options: ServeOptions, view: View, write: (text: string) => void): Promise<void> {
  const port = readPort(options.port)
  const role = readRole(options.role)
  const drainMs = readDrain(options.drain)
  const log = readLog(options)
  keepHeapLean()
  const added = targetJobs(options, role === 'all')
  const loaded = await loadConfig(options.config)
  const { file, jobsFile } = loaded
  const isBare = file === null && jobsFile === null
  // Without a configuration it manages no code schedules, and jobs that it does not know may belong to a worker.
  const app = configuredApp(loaded, {
    db: options.db,
    jobs: added,
    overrides: {
      ...concurrencyOverrides(readRoleConcurrency(options, role), loaded),
      ...log.options.overrides,
    },
    defaults: { ...log.options.defaults, foreignJobs: true, ...(isBare && { name: 'server' }) },
  })
  const jobs = jobsLine(loaded, app, added)
  let closeServer = async (): Promise<void> => {}
  await runUntilStopped({
    ...{ app, drainMs },
    onEnding() {
      announce(log, write, { message: 'stopping', text: view.colours.dim(STOPPING) })
      void closeServer()
    },
    async start(isEnding) {
      const invite = await inviteOf(app, options.setup ?? false, givenOf(options, loaded))
      const { name } = await coreOf(app).store()
      if (isEnding()) return
      await app.start(role === 'all' ? {} : { role })
      if (isEnding()) return
      const { url, close } = await listenOn(app, port, options)
      closeServer = close
      // The app closes its server when it stops, but not a server opened after that.
      if (isEnding()) return close()
      const { bold, dim } = view.colours
      const setup = invite === null ? null : `${url}/setup?invite=${invite}`
      announce(log, write, {
        message: 'server started',
        data: { version: ownVersion(), store: name, url, ...(setup === null ? {} : { setup }) },
        text: [
          `${bold(`everytick ${ownVersion()}`)}  ${printable(name)}\n${jobs}`,
          `  api   ${url}/api/v1\n  docs  ${url}/api/docs\n`,
          setup === null ? '' : `  setup ${setup}\n${dim(INVITED)}\n`,
          dim('  Ctrl-C stops.\n'),
        ].join(''),
      })
    },
  })
}

/** The one-time setup link of a server without keys; null when there are keys. */
async function inviteOf(app: Everytick, setup: boolean, given: GivenToServe): Promise<string | null> {
  const core = coreOf(app)
  const keys = createKeys(core)
  if (await keys.any()) return null
  if (setup) return createSessions(core, keys).invite()
  throw new UsageError(serveWithoutKeysText(given), { code: 'KEY_MISSING' })
}

/** `keys` finds the store of the configuration file in this folder itself, and DATABASE_URL takes precedence. */
function givenOf({ config, db }: ServeOptions, { options }: LoadedConfig): GivenToServe {
  const isFound = config === undefined || whereabouts().db !== undefined
  return { config, db, configStore: isFound || typeof options.store !== 'string' ? undefined : options.store }
}

function listenOn(app: Everytick, port: number, options: ServeOptions): Promise<Listening> {
  const { host, publicMetrics = false, publicDocs = false, privateChannels, channelHost } = options
  const allowPrivate = privateChannels ?? channelHost ?? false
  return listen(app, { host, port, publicMetrics, publicDocs, allowPrivate }).catch((error: unknown) => {
    throw portProblem(error, port)
  })
}

/** Empty without jobs. */
function jobsLine({ file, jobsFile }: LoadedConfig, app: Everytick, added: readonly Job[]): string {
  const from = jobsFile ?? file
  const own = coreOf(app).settings.ownJobs.size - added.length
  const jobs = [...(from === null ? [] : [`${own} in ${printable(from)}`]), ...added.map((job) => job.name)]
  return jobs.length > 0 ? `  jobs  ${jobs.join(', ')}\n` : ''
}

function readRoleConcurrency({ concurrency }: ServeOptions, role: 'scheduler' | 'all'): number | null {
  if (concurrency === undefined) return null
  if (role === 'all') return readConcurrency(concurrency)
  throw new UsageError('--concurrency is only for a process that executes runs', { hint: 'add --role all' })
}

function readRole(role: string): 'scheduler' | 'all' {
  if (role === 'scheduler' || role === 'all') return role
  const hint = role === 'worker' ? 'start a worker with: everytick worker' : undefined
  throw new UsageError(`--role takes scheduler or all, not ${role}`, hint === undefined ? {} : { hint })
}
