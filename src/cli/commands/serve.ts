/** `everytick serve`: the REST interface and the planner on a database; it knows the jobs of a configuration and those it was told to bring, and carries them out only when asked to. */
import type { Job } from '../../job.ts'
import { coreOf } from '../../scheduler/core.ts'
import type { Everytick } from '../../scheduler.ts'
import { createKeys } from '../../server/keys.ts'
import { serve as listen } from '../../server/listen.ts'
import { createSessions } from '../../server/sessions.ts'
import { asked } from '../asked.ts'
import { ownVersion } from '../config.ts'
import { type LoadedConfig, loadConfig } from '../config-file.ts'
import { configuredApp } from '../configured-app.ts'
import { portProblem } from '../port-problem.ts'
import { printable, type View } from '../print.ts'
import { readPort } from '../read-number.ts'
import { type TargetOptions, targetJobs } from '../target-jobs.ts'
import { UsageError } from '../usage-error.ts'

export interface ServeOptions extends TargetOptions {
  readonly config?: string
  readonly db?: string
  readonly host: string
  readonly port: string
  readonly role: string
  /** Starts without keys, closed to everybody but the holder of a one-time link. */
  readonly setup?: boolean
  readonly publicMetrics?: boolean
  readonly publicDocs?: boolean
}

export async function serve(options: ServeOptions, view: View, write: (text: string) => void): Promise<void> {
  const port = readPort(options.port)
  const role = readRole(options.role)
  const added = targetJobs(options, role === 'all')
  const loaded = await loadConfig(options.config)
  const { file, jobsFile } = loaded
  const isBare = file === null && jobsFile === null
  // Without code of its own it looks after nobody's schedules; and jobs that it does not have may be those of a worker.
  const app = configuredApp(loaded, {
    db: options.db,
    jobs: added,
    defaults: { foreignJobs: true, ...(isBare && { name: 'server' }) },
  })
  try {
    await serveUntilAsked(app, { options, port, role, view, write, jobs: jobsLine(loaded, app, added) })
  } finally {
    await app.stop()
  }
}

interface Serving {
  readonly options: ServeOptions
  readonly port: number
  readonly role: 'scheduler' | 'all'
  readonly jobs: string
  readonly view: View
  readonly write: (text: string) => void
}

async function serveUntilAsked(app: Everytick, { options, port, role, jobs, view, write }: Serving): Promise<void> {
  const core = coreOf(app)
  const keys = createKeys(core)
  const hasKeys = await keys.any()
  if (!hasKeys && !options.setup) {
    throw new UsageError('there is no key yet, so nobody could use this server', {
      exit: 'auth',
      hint: 'make the first one with: everytick keys create --db … --name admin --scope admin; or start with --setup, which prints a link that makes it, once',
    })
  }
  const { name } = await core.store()
  const invite = hasKeys ? null : await createSessions(core, keys).invite()
  await app.start(role === 'all' ? {} : { role })
  // At once, and nothing after it needs the store: a request to end stops the app also while the rest of this is on its way.
  const end = asked()
  const { url, close } = await listen(app, {
    ...{ host: options.host, port },
    publicMetrics: options.publicMetrics ?? false,
    publicDocs: options.publicDocs ?? false,
  }).catch((error: unknown) => {
    throw portProblem(error, port)
  })
  const { bold, dim } = view.colours
  write(`${bold(`everytick ${ownVersion()}`)}  ${printable(name)}\n${jobs}`)
  write(`  api   ${url}/api/v1\n  docs  ${url}/api/docs\n`)
  if (invite !== null) {
    write(
      `  setup ${url}/setup?invite=${invite}\n${dim('        opens once, within 15 minutes, and shows the first key')}\n`,
    )
  }
  write(dim('  Ctrl-C stops.\n'))
  await end
  await close()
}

/** Empty when there are none. */
function jobsLine({ file, jobsFile }: LoadedConfig, app: Everytick, added: readonly Job[]): string {
  const from = jobsFile ?? file
  const own = coreOf(app).settings.ownJobs.size - added.length
  const jobs = [...(from === null ? [] : [`${own} in ${printable(from)}`]), ...added.map((job) => job.name)]
  return jobs.length > 0 ? `  jobs  ${jobs.join(', ')}\n` : ''
}

function readRole(role: string): 'scheduler' | 'all' {
  if (role === 'scheduler' || role === 'all') return role
  const hint = role === 'worker' ? 'workers are started with: everytick worker' : undefined
  throw new UsageError(`--role takes scheduler or all, not ${role}`, hint === undefined ? {} : { hint })
}
