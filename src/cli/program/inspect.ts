/** Defines the commands that only read: `why`, `simulate`, `forecast`, `audit`, `audit-log` and `bench`. */
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
    .description('explain what happened to an occurrence, with each check and what to change')
    .argument('<schedule>', 'key, workspace/key or key@workspace')
    .argument('<instant>', 'an instant such as 2027-01-04T09:00:00Z; selects the occurrence at or before it')
    .action(async (name: string, at: string, options: WhyOptions) => {
      const { why } = await import('../commands/why.ts')
      await why({ name, at }, options, io)
    })

  withWhere(withTimingOptions(program.command('simulate')))
    .description('simulate a schedule over a period, with outages and run durations; saves nothing')
    .option('--to <instant>', 'end of the period (default: one day after its start)')
    .addOption(new Option('--overlap <rule>', 'what to do while the previous run is active').choices(OVERLAPS))
    .addOption(
      new Option('--catch-up <rule>', 'what to do with occurrences missed in an outage').choices([
        'none',
        'latest',
        'all',
      ]),
    )
    .option('--jitter <duration>', 'spread the starts over this long')
    .option('--outage <from/to>', 'a period without workers; repeatable', listed)
    .option('--duration <duration>', 'how long a run takes; repeat it for a duration per run', listed)
    .option('--all', 'list every occurrence, also on a terminal')
    .action(async (words: string[], options: SimulateOptions) => {
      const { simulate } = await import('../commands/simulate.ts')
      await simulate(words, options, io)
    })

  withBackendOptions(program.command('forecast'))
    .description('show upcoming fires by hour, spikes, and the effect of the next clock changes')
    .option('--hours <number>', 'number of hours, 1 to 168', '24')
    .option('--workspace <name>', 'only this workspace')
    .action(async (options: ForecastOptions) => {
      const { forecast } = await import('../commands/forecast.ts')
      await forecast(options, io)
    })

  withBackendOptions(program.command('audit'))
    .description('check the ledger for lost, duplicate or unexplained occurrences; exits 5 if it finds any')
    .argument('[schedule]', 'key, workspace/key or key@workspace (default: all schedules)')
    .option('--workspace <name>', 'only this workspace')
    .option('--since <when>', 'an instant, or a duration before now such as 12h (default: one day)')
    .action(async (name: string | undefined, options: AuditOptions) => {
      const { audit } = await import('../commands/audit.ts')
      await audit(name, options, io)
    })

  const log = program.command('audit-log').description('show who changed what, and verify that the log is unaltered')
  withPages(withBackendOptions(log.command('ls', { isDefault: true })))
    .description('list changes, newest first')
    .option('--workspace <name>', 'only this workspace')
    .action(async (options: AuditLogOptions) => {
      const { listAuditLog } = await import('../commands/audit-log.ts')
      await listAuditLog(options, io)
    })
  withBackendOptions(log.command('head'))
    .description('print the newest entry and its hash, to keep outside the database')
    .action(async (options: AuditLogOptions) => {
      const { headOfAuditLog } = await import('../commands/audit-log.ts')
      await headOfAuditLog(options, io)
    })
  withBackendOptions(log.command('verify'))
    .description('verify the hash chain; exits 5 if it is broken or does not contain the expected hash')
    .option('--expect <hash>', 'a hash that audit-log head printed earlier')
    .action(async (options: VerifyOptions) => {
      const { verifyAuditLog } = await import('../commands/audit-log.ts')
      await verifyAuditLog(options, io)
    })

  program
    .command('bench')
    .description('measure enqueueing, draining and pickup on this machine for about five seconds')
    .option('--db <address>', 'database to write to (default: a temporary SQLite file)')
    .option('--runs <number>', 'number of runs to drain, 10 to 100000', '2000')
    .option('--dry-run', 'print what would be written, without writing anything')
    .option('--json', 'print JSON')
    .action(async (options: BenchOptions) => {
      const { bench } = await import('../commands/bench.ts')
      await bench(options, io)
    })
}
