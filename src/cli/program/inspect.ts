/** Defines the commands that look: `why`, `simulate`, `forecast`, `audit`, `audit-log` and `bench`. */
import { type Command, Option } from 'commander'
import type { AuditOptions } from '../commands/audit.ts'
import type { AuditLogOptions, VerifyOptions } from '../commands/audit-log.ts'
import type { BenchOptions } from '../commands/bench.ts'
import type { ForecastOptions } from '../commands/forecast.ts'
import type { SimulateOptions } from '../commands/simulate.ts'
import type { WhyOptions } from '../commands/why.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withPages, withWhere } from './options.ts'
import { withTimingOptions } from './time.ts'

const OVERLAPS = ['skip', 'queue', 'queue_one', 'cancel_previous', 'allow']
const listed = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]

export function registerInspect(program: Command, io: Io): void {
  withBackendOptions(program.command('why'))
    .description('say what became of an occurrence, with the checklist that leads there and what to change')
    .argument('<schedule>', 'key, workspace/key or key@workspace')
    .argument('<instant>', 'such as 2027-01-04T09:00:00Z; the occurrence at or before it is meant')
    .action(async (name: string, at: string, options: WhyOptions) => {
      const { why } = await import('../commands/why.ts')
      await why({ name, at }, options, io)
    })

  withWhere(withTimingOptions(program.command('simulate')))
    .description('live through a stretch of time with a schedule, outages and work of some length; nothing is saved')
    .option('--to <instant>', 'end here instead of a day later')
    .addOption(new Option('--overlap <rule>', 'when the one before still runs').choices(OVERLAPS))
    .addOption(new Option('--catch-up <rule>', 'what an outage missed').choices(['none', 'latest', 'all']))
    .option('--jitter <duration>', 'spread starts over so long')
    .option('--outage <from/to>', 'nobody works then; may be given again', listed)
    .option('--duration <duration>', 'how long the work takes; given again, run after run', listed)
    .option('--all', 'list every occurrence, on a terminal too')
    .action(async (words: string[], options: SimulateOptions) => {
      const { simulate } = await import('../commands/simulate.ts')
      await simulate(words, options, io)
    })

  withBackendOptions(program.command('forecast'))
    .description('show the fires to come by hour, spikes, and what the next clock changes do')
    .option('--hours <number>', 'how many, 1 to 168', '24')
    .option('--workspace <name>', 'only of this one')
    .action(async (options: ForecastOptions) => {
      const { forecast } = await import('../commands/forecast.ts')
      await forecast(options, io)
    })

  withBackendOptions(program.command('audit'))
    .description('check the ledger: exit 5 unless nothing is lost, doubled or unexplained')
    .argument('[schedule]', 'key, workspace/key or key@workspace; all when absent')
    .option('--workspace <name>', 'only of this one')
    .option('--since <when>', 'an instant, or a duration such as 12h before now (default: a day)')
    .action(async (name: string | undefined, options: AuditOptions) => {
      const { audit } = await import('../commands/audit.ts')
      await audit(name, options, io)
    })

  const log = program.command('audit-log').description('show who changed what, and check that nobody touched the log')
  withPages(withBackendOptions(log.command('ls', { isDefault: true })))
    .description('list changes, newest first')
    .option('--workspace <name>', 'only of this one')
    .action(async (options: AuditLogOptions) => {
      const { listAuditLog } = await import('../commands/audit-log.ts')
      await listAuditLog(options, io)
    })
  withBackendOptions(log.command('head'))
    .description('print the newest entry and its hash, to be kept elsewhere')
    .action(async (options: AuditLogOptions) => {
      const { headOfAuditLog } = await import('../commands/audit-log.ts')
      await headOfAuditLog(options, io)
    })
  withBackendOptions(log.command('verify'))
    .description('walk the chain of hashes: exit 5 when it breaks, or no longer holds an expected one')
    .option('--expect <hash>', 'that audit-log head printed before')
    .action(async (options: VerifyOptions) => {
      const { verifyAuditLog } = await import('../commands/audit-log.ts')
      await verifyAuditLog(options, io)
    })

  program
    .command('bench')
    .description('measure enqueueing, draining and pick-up on this machine for about five seconds')
    .option('--db <address>', 'a database to write to (default: a SQLite file that is removed afterwards)')
    .option('--runs <number>', 'how many runs to drain, 10 to 100000', '2000')
    .option('--dry-run', 'say what would be written, and write nothing')
    .option('--json', 'print JSON')
    .action(async (options: BenchOptions) => {
      const { bench } = await import('../commands/bench.ts')
      await bench(options, io)
    })
}
