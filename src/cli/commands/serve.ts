/** `everytick serve`: the REST interface and the planner on a database; it knows the jobs of a configuration and those it was told to bring, and carries them out only when asked to. */
import { coreOf } from '../../scheduler/core.ts'
import { createKeys } from '../../server/keys.ts'
import { serve as listen } from '../../server/listen.ts'
import { createSessions } from '../../server/sessions.ts'
import { asked } from '../asked.ts'
import { ownVersion } from '../config.ts'
import { loadConfig } from '../config-file.ts'
import { configuredApp } from '../configured-app.ts'
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
  const core = coreOf(app)
  const keys = createKeys(core)
  const hasKeys = await keys.any()
  if (!hasKeys && !options.setup) {
    await app.stop()
    throw new UsageError('there is no key yet, so nobody could use this server', {
      exit: 'auth',
      hint: 'make the first one with: everytick keys create --db … --name admin --scope admin; or start with --setup, which prints a link that makes it, once',
    })
  }
  await app.start(role === 'all' ? {} : { role })
  const { url, close } = await listen(app, {
    ...{ host: options.host, port },
    publicMetrics: options.publicMetrics ?? false,
    publicDocs: options.publicDocs ?? false,
  })
  const { bold, dim } = view.colours
  const { name } = await core.store()
  write(`${bold(`everytick ${ownVersion()}`)}  ${printable(name)}\n`)
  const own = core.settings.ownJobs.size - added.length
  const jobs = [...(isBare ? [] : [`${own} in ${printable(jobsFile ?? file!)}`]), ...added.map((job) => job.name)]
  if (jobs.length > 0) write(`  jobs  ${jobs.join(', ')}\n`)
  write(`  api   ${url}/api/v1\n  docs  ${url}/api/docs\n`)
  if (!hasKeys) {
    const invite = await createSessions(core, keys).invite()
    write(
      `  setup ${url}/setup?invite=${invite}\n${dim('        opens once, within 15 minutes, and shows the first key')}\n`,
    )
  }
  write(dim('  Ctrl-C stops.\n'))
  await asked()
  await close()
  await app.stop()
}

function readRole(role: string): 'scheduler' | 'all' {
  if (role === 'scheduler' || role === 'all') return role
  const hint = role === 'worker' ? 'workers are started with: everytick worker' : undefined
  throw new UsageError(`--role takes scheduler or all, not ${role}`, hint === undefined ? {} : { hint })
}
