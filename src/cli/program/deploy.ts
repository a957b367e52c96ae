/** Defines `migrate`, `sync`, `apply`, `doctor` and `cleanup`: work on a whole database, mostly during a deployment. */
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
    .description('migrate a database to the current schema, or print the SQL')
    .option(
      '--db <address>',
      'database to migrate: sqlite:./everytick.db or postgres://user@host/database (or DATABASE_URL)',
    )
    .option(
      '--config <file>',
      'configuration file whose store to migrate (default: everytick.config.ts, .js or .json here)',
    )
    .option('--sql', 'print the SQL for an empty database, without opening any database')
    .option('--json', 'print JSON')
    .action(async (options: MigrateOptions) => {
      const { migrate } = await import('../commands/migrate.ts')
      await migrate(options, io)
    })

  withDryRun(program.command('sync'))
    .description('store the schedules of the configuration file, and pause those it no longer declares')
    .option('--config <file>', 'configuration file (default: everytick.config.ts, .js or .json here)')
    .option('--db <address>', 'database to use instead of the store in that file (or DATABASE_URL)')
    .option('--json', 'print JSON')
    .action(async (options: SyncOptions) => {
      const { sync } = await import('../commands/sync.ts')
      await sync(options, io)
    })

  withDryRun(withBackendOptions(program.command('apply')))
    .description('create or update the schedules in a YAML or JSON file')
    .requiredOption('-f, --file <file>', 'file with one or more documents, each a schedule; - reads standard input')
    .option('--tag <tag>', 'with --prune: the tag that all schedules of this file have')
    .option('--prune', 'remove schedules that have the tag and are not in the file')
    .option('--yes', 'remove schedules without asking for confirmation')
    .action(async (options: ApplyOptions) => {
      const { apply } = await import('../commands/apply.ts')
      await apply(options, io)
    })

  withBackendOptions(program.command('doctor'))
    .description('check database, clocks, planner and queues; print each problem and how to fix it')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('../commands/doctor.ts')
      await doctor(options, io)
    })

  withDryRun(withBackendOptions(program.command('cleanup')))
    .description('delete records older than their retention now (asks for confirmation)')
    .option('--history <duration>', 'keep finished runs and their logs this long')
    .option(
      '--journal <duration>',
      'keep journal, non-runs, records of deleted runs, revisions and ended backfills this long',
    )
    .option('--idempotency <duration>', 'keep idempotency keys this long')
    .option('--orphans <duration>', 'keep schedules that code no longer declares this long')
    .option('--ended-schedules <duration>', 'keep schedules that have ended or are disabled this long')
    .option('--yes', 'do not ask for confirmation')
    .action(async (options: CleanupOptions) => {
      const { cleanup } = await import('../commands/cleanup.ts')
      await cleanup(options, io)
    })
}
