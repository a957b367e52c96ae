/** `everytick worker`: executes the runs of jobs in the configuration and in its options. On a stop signal it claims no new runs and waits for those in flight. */
import { coreOf } from '../../scheduler/core.ts'
import type { QueueOption } from '../../scheduler/read-queues.ts'
import type { Everytick } from '../../scheduler.ts'
import type { Probes } from '../../server/probes.ts'
import { concurrencyOverrides } from '../concurrency.ts'
import { ownVersion } from '../config.ts'
import { type LoadedConfig, loadConfig } from '../config-file.ts'
import { configuredApp } from '../configured-app.ts'
import { noConfigRefusal } from '../no-config.ts'
import { portProblem } from '../port-problem.ts'
import { printable, type View } from '../print.ts'
import { readConcurrency, readDrain, readPort, readSeconds } from '../read-number.ts'
import { announce, type LogOptions, readLog } from '../service-log.ts'
import { runUntilStopped } from '../stop-app.ts'
import { type TargetOptions, targetJobs } from '../target-jobs.ts'
import { UsageError } from '../usage-error.ts'

export interface WorkerOptions extends TargetOptions, LogOptions {
  readonly config?: string
  readonly db?: string
  readonly queues?: string
  readonly concurrency?: string
  /** Also plan. */
  readonly plan?: boolean
  readonly seconds?: string
  readonly drain: string
  /** The port for probes and metrics; none when absent. */
  readonly port?: string
  readonly host?: string
}

const STOPPING = '  stopping: no new runs, those in flight may finish\n'

export async function worker(options: WorkerOptions, view: View, write: (text: string) => void): Promise<void> {
  const seconds = readSeconds(options.seconds)
  const drainMs = readDrain(options.drain)
  const probes = readProbes(options)
  const log = readLog(options)
  const jobs = targetJobs(options, true)
  const loaded = await loadConfig(options.config)
  const queues = options.queues === undefined ? {} : { queues: queuesOf(options.queues, loaded) }
  const concurrency = options.concurrency === undefined ? null : readConcurrency(options.concurrency)
  const overrides = { ...concurrencyOverrides(concurrency, loaded, queues), ...log.options.overrides }
  const app = configuredApp(loaded, { db: options.db, jobs, overrides, defaults: log.options.defaults })
  const core = coreOf(app)
  const { ownJobs, queues: taken } = core.settings
  if (ownJobs.size === 0) {
    await app.stop()
    const refusal = noConfigRefusal('jobs', 'pass --http or --allow-command with --db, or leave out --no-config')
    if (refusal) throw refusal
    throw new UsageError('no jobs to execute', {
      hint: `list jobs in ${loaded.file ?? 'everytick.config.ts'}, export them from jobs.ts, or pass --http or --allow-command`,
    })
  }
  const { bold, dim } = view.colours
  await runUntilStopped({
    ...{ app, drainMs, seconds },
    onEnding: () => announce(log, write, { message: 'stopping', text: dim(STOPPING) }),
    async start(isEnding) {
      // Listen before the start: a port in use fails at once, and an orchestrator can probe the process while it connects.
      const served = probes && (await listenForProbes(app, probes))
      if (isEnding()) return
      await app.start(options.plan ? {} : { role: 'worker' })
      const { name } = await core.store()
      const list = Object.entries(taken).map(([queue, { concurrency }]) => `${printable(queue)} ×${concurrency}`)
      const [what, jobNames] = [options.plan ? 'planner and worker' : 'worker', [...ownJobs.keys()]]
      announce(log, write, {
        message: `${what} started`,
        data: { version: ownVersion(), store: name, jobs: jobNames, queues: taken, probes: served?.url },
        text: [
          `${bold(`everytick ${ownVersion()}`)}  ${what} on ${printable(name)}\n`,
          `  jobs    ${jobNames.map(printable).join(', ')}\n  queues  ${list.join(', ')}\n`,
          served ? `  probes  ${served.url}/healthz, /readyz, /metrics\n` : '',
          dim('  Ctrl-C stops.\n'),
        ].join(''),
      })
    },
  })
}

interface ProbeAddress {
  readonly host: string
  readonly port: number
}

function readProbes({ port, host }: WorkerOptions): ProbeAddress | null {
  if (port !== undefined) return { host: host ?? '127.0.0.1', port: readPort(port) }
  if (host === undefined) return null
  throw new UsageError('--host needs --port, the port for probes', { hint: 'add --port 4411' })
}

async function listenForProbes(app: Everytick, { host, port }: ProbeAddress): Promise<Probes> {
  const { serveProbes } = await import('../../server/probes.ts')
  return serveProbes(app, { host, port }).catch((error: unknown) => {
    throw portProblem(error, port)
  })
}

function queuesOf(names: string, { options }: LoadedConfig): Record<string, QueueOption> {
  const wanted = names.split(',').map((name) => name.trim())
  if (wanted.includes('')) throw new UsageError('--queues takes comma-separated names')
  return Object.fromEntries(wanted.map((name) => [name, options.queues?.[name] ?? {}]))
}
