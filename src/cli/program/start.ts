/** Commands that start something and stay: `dev`, `serve`, `worker`; and `init`, with which everything starts. */
import type { Command } from 'commander'
import type { DevOptions } from '../commands/dev.ts'
import type { InitOptions } from '../commands/init.ts'
import type { ServeOptions } from '../commands/serve.ts'
import type { WorkerOptions } from '../commands/worker.ts'
import type { Io } from '../io.ts'
import { many, withDefaultTargets, withTargets } from './target-options.ts'

const CONFIG = [
  '--config <path>',
  'the configuration file (default: everytick.config.ts, .mts, .js, .mjs or .json here)',
] as const
const DB = [
  '--db <address>',
  'a database such as sqlite:./everytick.db (or DATABASE_URL, or the store of the configuration)',
] as const

const CONCURRENCY = [
  '--concurrency <number>',
  'how many runs of each queue this process executes at once (default: those of the configuration, or 10)',
] as const
const LOG_FORMAT = [
  '--log-format <format>',
  'text or json, one line each (default: text, or the logger of the configuration)',
] as const
const LOG_LEVEL = ['--log-level <level>', 'debug, info, warn or error (default: info)'] as const
const DRAIN = [
  '--drain <duration>',
  'how long runs in progress may take to end after SIGTERM or Ctrl-C, such as 5m',
  '30s',
] as const

export function registerStart(program: Command, io: Io): void {
  const dev = program
    .command('dev')
    .description('run the jobs of this folder on SQLite, with the interface, and load them again when they change')
    .option(...CONFIG)
    .option('--db <address>', 'another database than that of the configuration or .everytick/dev.db')
    .option('--port <number>', 'where to listen on this machine (default: 4410, or a free one); 0 takes a free one')
    .option('--seconds <number>', 'stop by itself after so long')
  withDefaultTargets(dev).action(async (options: DevOptions) => {
    const { dev } = await import('../commands/dev.ts')
    await dev(options, io)
  })

  const serve = program
    .command('serve')
    .description(
      'serve the REST interface and plan; with --role all also execute the jobs of the configuration, and those named here',
    )
    .option(...CONFIG)
    .option(...DB)
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--port <number>', '0 takes a free one', '4410')
    .option('--role <role>', 'scheduler: plan, and leave the work to workers; all: work too', 'scheduler')
    .option(...CONCURRENCY)
    .option(...DRAIN)
    .option(...LOG_FORMAT)
    .option(...LOG_LEVEL)
    .option('--setup', 'start without keys and print a link that makes the first one, once')
    .option('--public-metrics', 'let anybody read /metrics')
    .option('--public-docs', 'let anybody read the OpenAPI document and its page')
    .option('--private-channels', 'let alert channels reach this machine and private networks')
    .option('--channel-host <host>', 'let alert channels reach this private host or range; repeatable', many)
  withTargets(serve).action(async (options: ServeOptions) => {
    const [{ serve }, shown] = await Promise.all([import('../commands/serve.ts'), io.view()])
    await serve(options, shown, io.write)
  })

  const worker = program
    .command('worker')
    .description('execute runs of the jobs of the configuration, and of those named here; with --plan, plan too')
    .option(...CONFIG)
    .option(...DB)
    .option('--plan', 'plan too, and store the schedules of the configuration, as serve does')
    .option('--queues <names>', 'take only from these, separated by commas')
    .option(...CONCURRENCY)
    .option('--port <number>', 'answer /healthz, /readyz and /metrics there; 0 takes a free one')
    .option('--host <address>', 'where to answer them (default: 127.0.0.1)')
    .option('--seconds <number>', 'stop by itself after so long')
    .option(...DRAIN)
    .option(...LOG_FORMAT)
    .option(...LOG_LEVEL)
  withTargets(worker).action(async (options: WorkerOptions) => {
    const [{ worker }, shown] = await Promise.all([import('../commands/worker.ts'), io.view()])
    await worker(options, shown, io.write)
  })

  program
    .command('init [folder]')
    .description('write a small project that runs; files that are there stay as they are')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only say what would be written')
    .action(async (folder: string | undefined, options: InitOptions) => {
      const { init } = await import('../commands/init.ts')
      await init(folder ?? '.', options, io)
    })
}
