/** Defines the long-running commands `dev`, `serve` and `worker`, and `init`, which writes a new project. */
import type { Command } from 'commander'
import type { DevOptions } from '../commands/dev.ts'
import type { InitOptions } from '../commands/init.ts'
import type { ServeOptions } from '../commands/serve.ts'
import type { WorkerOptions } from '../commands/worker.ts'
import type { Io } from '../io.ts'
import { many, withDefaultTargets, withTargets } from './target-options.ts'

const CONFIG = [
  '--config <path>',
  'configuration file (default: everytick.config.ts, .mts, .js, .mjs or .json here)',
] as const
const DB = [
  '--db <address>',
  'database, such as sqlite:./everytick.db (default: DATABASE_URL, else the store of the configuration)',
] as const

const CONCURRENCY = [
  '--concurrency <number>',
  'maximum runs of each queue that this process executes at once (default: from the configuration, else 10)',
] as const
const LOG_FORMAT = [
  '--log-format <format>',
  'text or json, one line per entry (default: the logger of the configuration, else text)',
] as const
const LOG_LEVEL = ['--log-level <level>', 'debug, info, warn or error (default: info)'] as const
const DRAIN = [
  '--drain <duration>',
  'how long to wait for running runs after SIGTERM or Ctrl-C, such as 5m',
  '30s',
] as const

export function registerStart(program: Command, io: Io): void {
  const dev = program
    .command('dev')
    .description('run the jobs of this folder on SQLite, serve the overview, and reload on changes')
    .option(...CONFIG)
    .option('--db <address>', 'database (default: the store of the configuration, else .everytick/dev.db)')
    .option('--port <number>', 'port on this machine (default: 4410, or a free one); 0 picks a free one')
    .option('--seconds <number>', 'stop after this many seconds')
  withDefaultTargets(dev).action(async (options: DevOptions) => {
    const { dev } = await import('../commands/dev.ts')
    await dev(options, io)
  })

  const serve = program
    .command('serve')
    .description(
      'serve the REST API and plan schedules; with --role all, also execute jobs of the configuration and of these options',
    )
    .option(...CONFIG)
    .option(...DB)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 picks a free one', '4410')
    .option('--role <role>', 'scheduler: plan, but execute no runs; all: plan and execute runs', 'scheduler')
    .option(...CONCURRENCY)
    .option(...DRAIN)
    .option(...LOG_FORMAT)
    .option(...LOG_LEVEL)
    .option('--setup', 'start without API keys and print a one-time link that creates the first one')
    .option('--public-metrics', 'serve /metrics without an API key')
    .option('--public-docs', 'serve the OpenAPI document and its page without an API key')
    .option('--private-channels', 'allow alert channels to reach this machine and private networks')
    .option('--channel-host <host>', 'allow alert channels to reach this private host or range; repeatable', many)
  withTargets(serve).action(async (options: ServeOptions) => {
    const [{ serve }, shown] = await Promise.all([import('../commands/serve.ts'), io.view()])
    await serve(options, shown, io.write)
  })

  const worker = program
    .command('worker')
    .description('execute the runs of jobs in the configuration and in these options; with --plan, also plan schedules')
    .option(...CONFIG)
    .option(...DB)
    .option('--plan', 'also plan, and store the schedules of the configuration, as serve does')
    .option('--queues <names>', 'execute only runs of these queues, separated by commas')
    .option(...CONCURRENCY)
    .option('--port <number>', 'port for /healthz, /readyz and /metrics; 0 picks a free one')
    .option('--host <address>', 'address for --port (default: 127.0.0.1)')
    .option('--seconds <number>', 'stop after this many seconds')
    .option(...DRAIN)
    .option(...LOG_FORMAT)
    .option(...LOG_LEVEL)
  withTargets(worker).action(async (options: WorkerOptions) => {
    const [{ worker }, shown] = await Promise.all([import('../commands/worker.ts'), io.view()])
    await worker(options, shown, io.write)
  })

  program
    .command('init [folder]')
    .description('create a small working project; existing files stay unchanged')
    .option('--yes', 'do not ask for confirmation')
    .option('--dry-run', 'print what would be written, without writing anything')
    .action(async (folder: string | undefined, options: InitOptions) => {
      const { init } = await import('../commands/init.ts')
      await init(folder ?? '.', options, io)
    })
}
