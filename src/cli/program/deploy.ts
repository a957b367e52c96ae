/** Defines `migrate`, `sync`, `apply`, `doctor` and `cleanup`: what is done to a whole database, mostly when something new goes out. */
import type { Command } from 'commander'
import type { ApplyOptions } from '../commands/apply.ts'
import type { CleanupOptions } from '../commands/cleanup.ts'
import type { DoctorOptions } from '../commands/doctor.ts'
import type { MigrateOptions } from '../commands/migrate.ts'
import type { SyncOptions } from '../commands/sync.ts'
import type { Io } from '../io.ts'
import { withBackendOptions, withDryRun } from './options.ts'

export function registerDeploy(program: Command, io: Io): void {
  withDryRun(program.command('migrate'))
    .description('bring a database up to date, or print the SQL that does')
    .option('--db <address>', 'sqlite:./everytick.db or postgres://user@host/database (or DATABASE_URL)')
    .option('--config <file>', 'a configuration whose store is meant (default: everytick.config.ts, .js or .json here)')
    .option('--sql', 'print the SQL for an empty database instead, and open nothing')
    .option('--json', 'print JSON')
    .action(async (options: MigrateOptions) => {
      const { migrate } = await import('../commands/migrate.ts')
      await migrate(options, io)
    })

  withDryRun(program.command('sync'))
    .description('store the schedules of the configuration file; those it no longer has are paused')
    .option('--config <file>', 'instead of everytick.config.ts, .js or .json here')
    .option('--db <address>', 'instead of the store in that file (or DATABASE_URL)')
    .option('--json', 'print JSON')
    .action(async (options: SyncOptions) => {
      const { sync } = await import('../commands/sync.ts')
      await sync(options, io)
    })

  withDryRun(withBackendOptions(program.command('apply')))
    .description('create or change the schedules in a file of YAML or JSON')
    .requiredOption('-f, --file <file>', 'one or many documents, each a schedule; - reads standard input')
    .option('--tag <tag>', 'with --prune: what the schedules of this file have in common')
    .option('--prune', 'remove schedules with that tag which the file does not have')
    .option('--yes', 'do not ask before something is removed')
    .action(async (options: ApplyOptions) => {
      const { apply } = await import('../commands/apply.ts')
      await apply(options, io)
    })

  withBackendOptions(program.command('doctor'))
    .description('look at database, clocks, planner and queues, and say what is wrong and what mends it')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('../commands/doctor.ts')
      await doctor(options, io)
    })

  withDryRun(withBackendOptions(program.command('cleanup')))
    .description('remove now what is older than its retention; asks first')
    .option('--history <duration>', 'finished runs and their logs')
    .option('--journal <duration>', 'journal, non-runs, records of deleted runs, revisions, ended backfills')
    .option('--idempotency <duration>', 'idempotency keys')
    .option('--orphans <duration>', 'schedules that code no longer has')
    .option('--ended-schedules <duration>', 'schedules that are over, or off')
    .option('--yes', 'do not ask')
    .action(async (options: CleanupOptions) => {
      const { cleanup } = await import('../commands/cleanup.ts')
      await cleanup(options, io)
    })
}
