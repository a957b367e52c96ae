/** `everytick worker`: carries out runs of the jobs of a configuration, and of those it was told to bring, until it is asked to stop; then no new ones, and those under way may finish. */
import { coreOf } from '../../scheduler/core.ts'
import type { QueueOption } from '../../scheduler/read-queues.ts'
import { asked } from '../asked.ts'
import { ownVersion } from '../config.ts'
import { type LoadedConfig, loadConfig } from '../config-file.ts'
import { configuredApp } from '../configured-app.ts'
import { printable, type View } from '../print.ts'
import { readSeconds } from '../read-number.ts'
import { type TargetOptions, targetJobs } from '../target-jobs.ts'
import { UsageError } from '../usage-error.ts'

export interface WorkerOptions extends TargetOptions {
  readonly config?: string
  readonly db?: string
  readonly queues?: string
  readonly seconds?: string
}

/** What a queue that the configuration does not name is given. */
const AT_ONCE = 10

export async function worker(options: WorkerOptions, view: View, write: (text: string) => void): Promise<void> {
  const seconds = readSeconds(options.seconds)
  const jobs = targetJobs(options, true)
  const loaded = await loadConfig(options.config)
  const queues = options.queues === undefined ? null : queuesOf(options.queues, loaded)
  const app = configuredApp(loaded, { db: options.db, jobs, overrides: queues === null ? {} : { queues } })
  const core = coreOf(app)
  const { ownJobs, queues: taken } = core.settings
  if (ownJobs.size === 0) {
    await app.stop()
    throw new UsageError('there are no jobs to carry out', {
      hint: `name them in ${loaded.file ?? 'everytick.config.ts'}, export them from jobs.ts, or pass --http or --allow-command`,
    })
  }
  await app.start({ role: 'worker' })
  const { bold, dim } = view.colours
  const { name } = await core.store()
  const list = Object.entries(taken).map(([queue, { concurrency }]) => `${printable(queue)} ×${concurrency}`)
  write(`${bold(`everytick ${ownVersion()}`)}  worker on ${printable(name)}\n`)
  write(`  jobs    ${[...ownJobs.keys()].map(printable).join(', ')}\n  queues  ${list.join(', ')}\n`)
  write(dim('  Ctrl-C stops.\n'))
  await asked(seconds)
  write(dim('  stopping: no new runs, those under way may finish\n'))
  await app.stop()
}

function queuesOf(names: string, { options }: LoadedConfig): Record<string, QueueOption> {
  const wanted = names.split(',').map((name) => name.trim())
  if (wanted.includes('')) throw new UsageError('--queues takes names separated by commas')
  return Object.fromEntries(wanted.map((name) => [name, options.queues?.[name] ?? AT_ONCE]))
}
